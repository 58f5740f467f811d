import { Controller } from '@nestjs/common';
import { administrator, anyone, Endpoint, group, JsonText, one, page, signedIn } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { issueDetailShape, issueShape } from '../issue.shape';
import { ListAllIssues, ListGroupIssues, IdentifyIssueById } from '../issues.dto';
import { toIssueFilter } from './issue-list.dto';
import type { IssueOrder } from './issue-order';
import { IssuesEverywhereQueries } from './issues-everywhere.queries';

const SOURCE = 'reference work-tracking 9.1';

/** Routes that list issues of many projects. */
@Controller()
export class IssuesEverywhereController {
  constructor(private readonly queries: IssuesEverywhereQueries) {}

  @Endpoint('GET', '/groups/:id/issues', {
    about: 'Lists the issues of all projects of a group and its subgroups.',
    source: SOURCE,
    within: group('id'),
    may: anyone(),
    params: ListGroupIssues,
    answers: page(issueShape.presenter),
  })
  listOfGroup({ params, viewer, within, page }: Call<ListGroupIssues, GroupScope>): Promise<JsonPage> {
    const places = { group: within, nonArchived: params.non_archived };
    return this.queries.list(viewer, places, toIssueFilter(params), toIssueOrder(params), page);
  }

  @Endpoint('GET', '/issues', {
    about: 'Lists issues of all projects, by default those that the caller opened.',
    source: SOURCE,
    may: signedIn(),
    params: ListAllIssues,
    answers: page(issueShape.presenter),
  })
  list({ params, viewer, page }: Call<ListAllIssues, undefined, SignedInViewer>): Promise<JsonPage> {
    const places = { group: null, nonArchived: params.non_archived };
    return this.queries.list(viewer, places, toIssueFilter(params), toIssueOrder(params), page);
  }

  @Endpoint('GET', '/issues/:id', {
    about: 'Shows one issue by its id.',
    source: SOURCE,
    may: administrator(),
    params: IdentifyIssueById,
    answers: one(issueDetailShape.presenter),
    fails: [404],
  })
  async show({ params, viewer }: Call<IdentifyIssueById, undefined, SignedInViewer>): Promise<JsonText> {
    return new JsonText(await this.queries.findIssue(viewer, params.id));
  }
}

function toIssueOrder(params: ListGroupIssues | ListAllIssues): IssueOrder {
  return { orderBy: params.order_by, sort: params.sort, withLabelDetails: params.with_labels_details };
}
