import { Inject, Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { Clock, Page, PageRequest, SignedInViewer } from '@rookery/kernel';
import { CLOCK, Forbidden, Refused } from '@rookery/kernel';
import type { Collection, Tx } from '@rookery/persistence';
import { defineCollection, statement, Work } from '@rookery/persistence';
import type { PipelineTriggerInput } from './pipeline-trigger.entity';
import { PipelineTrigger } from './pipeline-trigger.entity';
import { TriggerSecrets } from './trigger-secrets';

/** Trigger tokens of one project. Source: reference identity-and-import 7.1. */
const MAX_TRIGGERS = 25_000;
const TOO_MANY = JSON.stringify({ base: [`Maximum number of pipeline triggers (${MAX_TRIGGERS}) exceeded`] });

const COUNT = statement<{ project: number; max: number }, { is_full: boolean }>(
  'pipeline_triggers_count',
  `select count(*) >= :max::int as is_full from (
     select 1 from pipeline_triggers where project_id = :project::bigint limit :max::int) counted`,
);

const triggers = defineCollection(PipelineTrigger, { within: 'projectId', order: { id: 'ASC' } });

/** A change to the trigger tokens of a project. */
interface TriggerChangeContext {
  readonly projectId: number;
  readonly viewer: SignedInViewer;
}

/** Trigger tokens. Source: requirements 2 §4 Trigger tokens; reference identity-and-import 7.1. */
@Injectable()
export class TriggersService {
  private readonly rows: Collection<PipelineTrigger>;

  constructor(
    work: Work,
    private readonly secrets: TriggerSecrets,
    private readonly instance: InstanceSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.rows = triggers.on(work);
  }

  list(projectId: number, page: PageRequest): Promise<Page<PipelineTrigger>> {
    return this.rows.list({ page, within: projectId });
  }

  /** Errors: NotFound. */
  findTrigger(id: number, projectId: number): Promise<PipelineTrigger> {
    return this.rows.find(id, projectId);
  }

  /** Errors: Refused for an invalid field, and for too many tokens. */
  create(
    input: PipelineTriggerInput & { readonly description: string },
    { projectId, viewer }: TriggerChangeContext,
  ): Promise<PipelineTrigger> {
    const trigger = PipelineTrigger.create(input, {
      ...{ projectId, ownerId: viewer.userId, now: this.clock.now() },
      secret: this.secrets.createSecret(),
      maxDays: this.instance.setting('max_personal_access_token_lifetime'),
    });
    const before = (tx: Tx): Promise<void> => refuseTooManyTriggers(tx, projectId);
    return this.rows.create(trigger, { actorId: viewer.userId, within: projectId, before });
  }

  /** Changes the description. Errors: NotFound; Forbidden for a maintainer who does not own the token. */
  update(
    id: number,
    input: Pick<PipelineTriggerInput, 'description'>,
    { projectId, viewer }: TriggerChangeContext,
  ): Promise<PipelineTrigger> {
    const change = (trigger: PipelineTrigger): void => {
      if (trigger.ownerId !== viewer.userId && !viewer.isAdmin)
        throw new Forbidden('The current user is not authorized to update the pipeline trigger token');
      trigger.change(input, this.clock.now());
    };
    return this.rows.change(id, change, { actorId: viewer.userId, within: projectId });
  }

  /** Errors: NotFound; those of `unchanged`. */
  async remove(
    id: number,
    { projectId, viewer, unchanged }: TriggerChangeContext & { unchanged(updatedAt: Date): void },
  ): Promise<void> {
    await this.rows.remove(id, { actorId: viewer.userId, within: projectId, unchanged });
  }
}

async function refuseTooManyTriggers(tx: Tx, project: number): Promise<void> {
  const [count] = await tx.run(COUNT, { project, max: MAX_TRIGGERS });
  if (count!.is_full) throw new Refused(TOO_MANY);
}
