import { Controller } from '@nestjs/common';
import { Endpoint, oneOrUnfinished, project, UnfinishedAnswer } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { detailedPipelinePresenter } from './pipeline.presenter';
import { PipelineStarts } from './pipeline-starts';
import { CreateMergeRequestPipeline } from './pipelines.dto';
import { runsPipelines } from './pipelines.permission';
import type { PipelineRow } from './pipelines.queries';

/** Time after which clients that asked for 202 may read the pipeline. It exists already. */
const POLL_MS = 1000;

/** Starts of pipelines of merge requests. Collaboration lists them. */
@Controller()
export class MergeRequestPipelinesController {
  constructor(private readonly starts: PipelineStarts) {}

  @Endpoint('POST', '/projects/:id/merge_requests/:merge_request_iid/pipelines', {
    source: 'reference repositories 8.16',
    within: project(),
    may: runsPipelines,
    about: 'Starts a pipeline on the head of a merge request.',
    params: CreateMergeRequestPipeline,
    answers: oneOrUnfinished(detailedPipelinePresenter),
    fails: [404, 405],
  })
  async create({
    params,
    within,
    viewer,
  }: Call<CreateMergeRequestPipeline, ProjectScope, SignedInViewer>): Promise<
    PipelineRow | UnfinishedAnswer<PipelineRow>
  > {
    const row = await this.starts.startForMergeRequest(within, params.merge_request_iid, viewer.userId);
    return params.async ? new UnfinishedAnswer(row, POLL_MS) : row;
  }
}
