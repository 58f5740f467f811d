import { Controller } from '@nestjs/common';
import { anyone, Endpoint, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import { issueShape } from '../../issues/issue.shape';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { RelatedIssuesQueries } from './related-issues.queries';

const reads = {
  source: 'reference repositories 8.17',
  within: project('id', 'copy'),
  may: anyone(),
  params: IdentifyMergeRequest,
  answers: page(issueShape.presenter),
  fails: [403],
} as const;

/** Issues of a merge request. */
@Controller('projects/:id/merge_requests/:merge_request_iid')
export class RelatedIssuesController {
  constructor(private readonly issues: RelatedIssuesQueries) {}

  @Endpoint('GET', 'closes_issues', {
    ...reads,
    about: 'Lists the issues that merging closes, of all projects that the caller sees, oldest first.',
  })
  closes({ params, viewer, within, page }: Call<IdentifyMergeRequest, ProjectScope>): Promise<JsonPage> {
    return this.issues.list(viewer, within, params.merge_request_iid, 'closed', page);
  }

  @Endpoint('GET', 'related_issues', {
    ...reads,
    about: 'Lists the issues that title, description, commits and comments refer to, oldest first.',
  })
  related({ params, viewer, within, page }: Call<IdentifyMergeRequest, ProjectScope>): Promise<JsonPage> {
    return this.issues.list(viewer, within, params.merge_request_iid, 'related', page);
  }
}
