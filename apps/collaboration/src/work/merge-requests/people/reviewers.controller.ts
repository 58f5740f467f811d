import { Controller } from '@nestjs/common';
import { unpagedList, anyone, Endpoint, JsonText, project } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { reviewerShape } from './reviewer.shape';
import { ReviewersQueries } from './reviewers.queries';

@Controller('projects/:id/merge_requests/:merge_request_iid/reviewers')
export class ReviewersController {
  constructor(private readonly reviewers: ReviewersQueries) {}

  @Endpoint('GET', '', {
    about: 'Lists the reviewers of a merge request with the states of their reviews.',
    source: 'reference repositories 8.8',
    within: project('id', 'copy'),
    may: anyone(),
    params: IdentifyMergeRequest,
    answers: unpagedList(reviewerShape.presenter),
    fails: [403],
  })
  async list({ params, viewer, within }: Call<IdentifyMergeRequest, ProjectScope>): Promise<JsonText> {
    return new JsonText(await this.reviewers.list(viewer, within, params.merge_request_iid));
  }
}
