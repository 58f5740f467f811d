import { Controller } from '@nestjs/common';
import { ability, anyone, Endpoint, group, page } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import { isSignedIn, Unauthorized } from '@rookery/kernel';
import { listedMergeRequest } from '../merge-request.shape';
import {
  toMergeRequestFilter,
  ListAllMergeRequests,
  ListGroupMergeRequests,
  toMergeRequestOrder,
} from './merge-request-list.dto';
import { MergeRequestsEverywhereQueries } from './merge-requests-everywhere.queries';

const SOURCE = 'reference repositories 8.7';

/** Anonymous callers list the merge requests of everyone only. */
const mayList = ability('merge_request.list_all', ({ viewer, params }: Call<ListAllMergeRequests>) => {
  if (!isSignedIn(viewer) && params.scope !== 'all') throw new Unauthorized();
  return true;
});

/** Routes that list merge requests of many projects. */
@Controller()
export class MergeRequestsEverywhereController {
  constructor(private readonly queries: MergeRequestsEverywhereQueries) {}

  @Endpoint('GET', '/groups/:id/merge_requests', {
    about: 'Lists the merge requests of all projects of a group and its subgroups.',
    source: SOURCE,
    within: group('id'),
    may: anyone(),
    params: ListGroupMergeRequests,
    answers: page(listedMergeRequest),
  })
  listOfGroup({ params, viewer, within, page }: Call<ListGroupMergeRequests, GroupScope>): Promise<JsonPage> {
    const places = { group: within, nonArchived: params.non_archived };
    return this.queries.list(viewer, places, toMergeRequestFilter(params), toMergeRequestOrder(params), page);
  }

  @Endpoint('GET', '/merge_requests', {
    about: 'Lists merge requests of all projects, by default those that the caller opened.',
    source: SOURCE,
    may: mayList,
    params: ListAllMergeRequests,
    answers: page(listedMergeRequest),
    fails: [401],
  })
  list({ params, viewer, page }: Call<ListAllMergeRequests>): Promise<JsonPage> {
    const places = { group: null, nonArchived: params.non_archived };
    return this.queries.list(viewer, places, toMergeRequestFilter(params), toMergeRequestOrder(params), page);
  }
}
