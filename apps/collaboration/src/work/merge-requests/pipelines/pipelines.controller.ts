import { Controller } from '@nestjs/common';
import { anyone, Endpoint, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { pipelineShape } from './pipelines.shape';
import { MergeRequestPipelinesQueries } from './pipelines.queries';

@Controller('projects/:id/merge_requests/:merge_request_iid/pipelines')
export class MergeRequestPipelinesController {
  constructor(private readonly pipelines: MergeRequestPipelinesQueries) {}

  @Endpoint('GET', '', {
    about: 'Lists the pipelines of the heads of a merge request, the newest first.',
    source: 'reference repositories 8.16',
    within: project('id', 'copy'),
    may: anyone(),
    params: IdentifyMergeRequest,
    answers: page(pipelineShape.presenter),
    fails: [403],
  })
  list({ params, viewer, within, page: asked }: Call<IdentifyMergeRequest, ProjectScope>): Promise<JsonPage> {
    return this.pipelines.list(viewer, within, params.merge_request_iid, asked);
  }
}
