import { Controller } from '@nestjs/common';
import {
  ability,
  anyone,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  noContent,
  one,
  page,
  project,
  signedIn,
} from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { toIssueFilter } from './listing/issue-list.dto';
import { issuePolicy } from './issue.policy';
import { issueDetailShape, issueShape } from './issue.shape';
import {
  CreateIssue,
  toIssueUpdate,
  ListIssues,
  toNewIssue,
  IdentifyIssue,
  ReorderIssue,
  UpdateIssue,
  toThreadsToResolveRequest,
  listIgnoredCreateIssueParams,
  listIgnoredUpdateIssueParams,
} from './issues.dto';
import { IssuesQueries } from './issues.queries';
import { IssuesService } from './issues.service';
import { IssueQuickActionsService } from './quick-actions/issue-quick-actions.service';
import { IssueOrderService } from './reordering/issue-order.service';
import { EpicAssignments } from './epic/epic-assignment';
import { ThreadsToResolveLookup } from './follow-ups/threads-to-resolve';

/**
 * Limit of a request body: a description of a million characters, escaped. Units: bytes. Source: reference reliability
 * 6.3.
 */
const BODY_LIMIT = 8 * 1024 * 1024;

type ReadCall<P> = Call<P, ProjectScope>;
type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller('projects/:id/issues')
export class IssuesController {
  constructor(
    private readonly queries: IssuesQueries,
    private readonly issues: IssuesService,
    private readonly order: IssueOrderService,
    private readonly quickActions: IssueQuickActionsService,
    private readonly epics: EpicAssignments,
    private readonly followUps: ThreadsToResolveLookup,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the issues of a project.',
    source: 'reference work-tracking 9.1',
    within: project('id', 'copy'),
    may: anyone(),
    params: ListIssues,
    answers: page(issueShape.presenter),
  })
  list({ params, viewer, within, page }: ReadCall<ListIssues>): Promise<JsonPage> {
    const order = { orderBy: params.order_by, sort: params.sort, withLabelDetails: params.with_labels_details };
    return this.queries.list(viewer, within, toIssueFilter(params), order, page);
  }

  @Endpoint('GET', ':issue_iid', {
    about: 'Shows one issue.',
    source: 'reference work-tracking 9.1',
    within: project('id', 'copy'),
    may: anyone(),
    params: IdentifyIssue,
    answers: one(issueDetailShape.presenter),
  })
  async show({ params, viewer, within }: ReadCall<IdentifyIssue>): Promise<JsonText> {
    return new JsonText(await this.queries.findIssue(viewer, within, params.issue_iid));
  }

  @Endpoint('POST', '', {
    about: 'Opens an issue and runs the quick actions in its description.',
    source: 'reference work-tracking 2.6, 9.1',
    within: project('id', 'copy'),
    may: ability(
      'issue.create',
      ({ viewer, within }: WriteCall<CreateIssue>) => issuePolicy.mayCreate(viewer, within),
      {
        signedIn: true,
      },
    ),
    params: CreateIssue,
    withoutEffect: ({ params, viewer, within }) =>
      listIgnoredCreateIssueParams(params, issuePolicy.fieldPermissions(viewer, within)),
    answers: created(issueDetailShape.presenter),
    fails: [404, 409, 429],
    bodyLimit: BODY_LIMIT,
  })
  async create({ params, viewer, within }: WriteCall<CreateIssue>): Promise<JsonText> {
    const epicId = await this.epics.findEpicId(within, params);
    const followUp = await this.followUps.findThreadsToResolve(viewer, within, toThreadsToResolveRequest(params));
    return new JsonText(await this.quickActions.create(viewer, within, toNewIssue(params), { epicId, followUp }));
  }

  @Endpoint('PUT', ':issue_iid', {
    about: 'Updates, closes or reopens an issue.',
    source: 'reference work-tracking 9.1',
    within: project('id', 'copy'),
    may: signedIn(),
    params: UpdateIssue,
    withoutEffect: ({ params, viewer, within }) =>
      listIgnoredUpdateIssueParams(params, issuePolicy.fieldPermissions(viewer, within)),
    answers: one(issueDetailShape.presenter),
    fails: [409, 429],
    bodyLimit: BODY_LIMIT,
  })
  async update({ params, viewer, within }: WriteCall<UpdateIssue>): Promise<JsonText> {
    const { issue_iid: iid } = params;
    const epicId = await this.epics.findEpicId(within, params);
    const epicAssignment = await this.epics.prepare(viewer, { project: within, iid }, epicId);
    return new JsonText(await this.issues.update(viewer, within, iid, { ...toIssueUpdate(params), epicAssignment }));
  }

  @Endpoint('PUT', ':issue_iid/reorder', {
    about: 'Moves an issue between two others of its project, in the order of `relative_position`.',
    source: 'reference work-tracking 9.1',
    within: project('id', 'copy'),
    may: ability(
      'issue.reorder',
      ({ viewer, within }: WriteCall<ReorderIssue>) => planningPolicy.mayManage(viewer, within),
      { signedIn: true },
    ),
    params: ReorderIssue,
    answers: one(issueDetailShape.presenter),
    fails: [422],
  })
  async reorder({ params, viewer, within }: WriteCall<ReorderIssue>): Promise<JsonText> {
    const { issue_iid: iid, move_after_id: after, move_before_id: before } = params;
    return new JsonText(await this.order.moveIssue(viewer, within, iid, { after, before }));
  }

  @Endpoint('DELETE', ':issue_iid', {
    about: 'Deletes an issue with its notes.',
    source: 'reference work-tracking 9.1',
    within: project('id', 'copy'),
    may: signedIn(),
    params: IdentifyIssue,
    answers: noContent(),
    fails: [412],
  })
  remove(call: WriteCall<IdentifyIssue>): Promise<void> {
    const { params, viewer, within } = call;
    return this.issues.remove(viewer, within, params.issue_iid, (updatedAt) => checkUnmodifiedSince(call, updatedAt));
  }
}
