import { Controller } from '@nestjs/common';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import { atLeast, checkUnmodifiedSince, created, Endpoint, noContent, one, page, project } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import type { PipelineTrigger } from './pipeline-trigger.entity';
import { pipelineTriggerPresenter } from './pipeline-trigger.presenter';
import { CreatePipelineTrigger, IdentifyPipelineTrigger, UpdatePipelineTrigger } from './triggers.dto';
import { TriggersService } from './triggers.service';

const TRIGGERS = '/projects/:id/triggers';
const TRIGGER = `${TRIGGERS}/:trigger_id`;
const manages = {
  source: 'requirements 2 §4 Trigger tokens',
  within: project(),
  may: atLeast('maintainer'),
} as const;

type TriggerCall<P = NoParams> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class TriggersController {
  constructor(private readonly triggers: TriggersService) {}

  @Endpoint('GET', TRIGGERS, {
    ...manages,
    about: 'Lists the trigger tokens of a project.',
    answers: page(pipelineTriggerPresenter),
  })
  list({ within, page }: TriggerCall): Promise<Page<PipelineTrigger>> {
    return this.triggers.list(within.id, page);
  }

  @Endpoint('GET', TRIGGER, {
    ...manages,
    about: 'Returns a trigger token.',
    params: IdentifyPipelineTrigger,
    answers: one(pipelineTriggerPresenter),
    fails: [404],
  })
  show({ within, params }: TriggerCall<IdentifyPipelineTrigger>): Promise<PipelineTrigger> {
    return this.triggers.findTrigger(params.trigger_id, within.id);
  }

  @Endpoint('POST', TRIGGERS, {
    ...manages,
    about: 'Creates a trigger token, which starts pipelines as the caller.',
    params: CreatePipelineTrigger,
    answers: created(pipelineTriggerPresenter),
  })
  create({ within, viewer, params }: TriggerCall<CreatePipelineTrigger>): Promise<PipelineTrigger> {
    return this.triggers.create(params, { projectId: within.id, viewer });
  }

  @Endpoint('PUT', TRIGGER, {
    ...manages,
    about: 'Changes the description of a trigger token of the caller.',
    params: UpdatePipelineTrigger,
    answers: one(pipelineTriggerPresenter),
    fails: [404],
  })
  update({ within, viewer, params }: TriggerCall<UpdatePipelineTrigger>): Promise<PipelineTrigger> {
    return this.triggers.update(params.trigger_id, params, { projectId: within.id, viewer });
  }

  @Endpoint('DELETE', TRIGGER, {
    ...manages,
    source: 'requirements 2 §4; reference identity-and-import 7.1',
    about: 'Deletes a trigger token.',
    params: IdentifyPipelineTrigger,
    answers: noContent(),
    fails: [404, 412],
  })
  remove(call: TriggerCall<IdentifyPipelineTrigger>): Promise<void> {
    const unchanged = (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt);
    return this.triggers.remove(call.params.trigger_id, {
      ...{ projectId: call.within.id, viewer: call.viewer },
      unchanged,
    });
  }
}
