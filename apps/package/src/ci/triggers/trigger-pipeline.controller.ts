import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { anyone, created, Endpoint } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Forbidden } from '@rookery/kernel';
import { detailedPipelinePresenter } from '../pipelines/pipeline.presenter';
import type { PipelineRow } from '../pipelines/pipelines.queries';
import { PipelineTriggerStarts } from './pipeline-trigger-starts';
import { CreatePipelineByToken } from './trigger-pipeline.dto';

/** Webhooks of pipelines, which would start a pipeline for each pipeline. */
const LOOPING_EVENT = 'Pipeline Hook';

/** The parameter `token` authenticates the request; another credential of the request has no effect. */
@Controller()
export class TriggerPipelineController {
  constructor(
    private readonly starts: PipelineTriggerStarts,
    private readonly directory: Directory,
  ) {}

  @Endpoint('POST', '/projects/:id/trigger/pipeline', {
    about: 'Starts a pipeline by a trigger token or the token of a running job.',
    source: 'requirements 2 §4; reference identity-and-import 7.2',
    may: anyone(),
    params: CreatePipelineByToken,
    answers: created(detailedPipelinePresenter),
    tokenScopes: 'any',
    fails: [401, 403, 404],
    aliases: ['/projects/:id/ref/:ref/trigger/pipeline'],
  })
  async start({ params, viewer }: Call<CreatePipelineByToken>): Promise<PipelineRow> {
    const { event, ...start } = params;
    if (event === LOOPING_EVENT) throw new Forbidden();
    await this.directory.requireFresh(viewer);
    return this.starts.startPipeline(start, viewer);
  }
}
