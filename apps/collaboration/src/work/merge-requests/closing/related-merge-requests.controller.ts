import { Controller } from '@nestjs/common';
import { anyone, Endpoint, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import { IdentifyIssue } from '../../issues/issues.dto';
import { mergeRequestShape } from '../merge-request.shape';
import { RelatedMergeRequestsQueries } from './related-merge-requests.queries';

const reads = {
  source: 'reference work-tracking 9.1',
  within: project('id', 'copy'),
  may: anyone(),
  params: IdentifyIssue,
  answers: page(mergeRequestShape.presenter),
} as const;

/** Merge requests of an issue. */
@Controller('projects/:id/issues/:issue_iid')
export class RelatedMergeRequestsController {
  constructor(private readonly mergeRequests: RelatedMergeRequestsQueries) {}

  @Endpoint('GET', 'closed_by', {
    ...reads,
    about: 'Lists the merge requests that close an issue when they are merged, oldest first.',
  })
  closing({ params, viewer, within, page }: Call<IdentifyIssue, ProjectScope>): Promise<JsonPage> {
    return this.mergeRequests.list(viewer, within, params.issue_iid, 'closing', page);
  }

  @Endpoint('GET', 'related_merge_requests', {
    ...reads,
    about: 'Lists the merge requests that refer to an issue or that it refers to, oldest first.',
  })
  related({ params, viewer, within, page }: Call<IdentifyIssue, ProjectScope>): Promise<JsonPage> {
    return this.mergeRequests.list(viewer, within, params.issue_iid, 'related', page);
  }
}
