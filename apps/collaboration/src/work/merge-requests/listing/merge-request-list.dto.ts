import { AtMostOneOf, Flag, Hash, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { splitList, scalarToText } from '../../../base/noteables/list-values';
import { toLabelFilter } from '../../../planning/labels/labelling/label-filter';
import { toMilestoneFilter } from '../../../planning/milestones/assigning/milestone-params';
import { parseId, parseIdNoneOrAny } from '../../../planning/people/people-filter';
import { MERGE_REQUEST_STATES } from '../merge-request.entity';
import type { MergeRequestFilter } from './merge-request-filter';
import { MERGE_REQUEST_ORDERS } from './merge-request-order';
import type { MergeRequestOrder } from './merge-request-order';

const STATES = [...MERGE_REQUEST_STATES, 'all'] as const;
const SCOPES = [
  'created_by_me',
  'assigned_to_me',
  'reviews_for_me',
  'all',
  'created-by-me',
  'assigned-to-me',
  'reviews-for-me',
] as const;
/** Limit of names in an exclusion, the same as of other lists of parameters. */
const MOST_LABELS = 1000;
/** Maximum number of users in a filter by approvals. Further ones are ignored. */
const MOST_APPROVERS = 100;

@AtMostOneOf('author_id', 'author_username')
@AtMostOneOf('assignee_id', 'assignee_username')
@AtMostOneOf('reviewer_id', 'reviewer_username')
@AtMostOneOf('merge_user_id', 'merge_user_username')
class MergeRequestListQuery {
  @OneOf(STATES, { default: 'all' }) state: (typeof STATES)[number];
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author_username?: string;
  @Text({ optional: true, about: 'A user id, `None` or `Any`.' }) assignee_id?: string;
  @ListOf('text', { optional: true, splitItems: true }) assignee_username?: readonly string[];
  @Text({ optional: true, about: 'A user id, `None` or `Any`.' }) reviewer_id?: string;
  @Text({ optional: true }) reviewer_username?: string;
  @Int({ optional: true }) merge_user_id?: number;
  @Text({ optional: true }) merge_user_username?: string;
  @ListOf('text', { optional: true, splitItems: true }) labels?: readonly string[];
  @Text({ optional: true, about: 'A title, `None`, `Any`, `Upcoming` or `Started`.' }) milestone?: string;
  @Text({ optional: true }) my_reaction_emoji?: string;
  @Text({ optional: true }) source_branch?: string;
  @Text({ optional: true }) target_branch?: string;
  @Int({ optional: true }) source_project_id?: number;
  @Search() search?: string;
  @ListOf({ oneOf: ['title', 'description'] }, { optional: true }) in?: readonly ('title' | 'description')[];
  @OneOf(['yes', 'no'], { optional: true, deprecated: 'draft' }) wip?: 'yes' | 'no';
  @Flag({ optional: true }) draft?: boolean;
  @OneOf(['yes', 'no'], { optional: true }) approved?: 'yes' | 'no';
  @ListOf('text', { optional: true, splitItems: true }) approved_by_ids?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) approved_by_usernames?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) approver_ids?: readonly string[];
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
  @Instant({ optional: true }) merged_after?: Date;
  @Instant({ optional: true }) merged_before?: Date;
  @Instant({ optional: true }) deployed_after?: Date;
  @Instant({ optional: true }) deployed_before?: Date;
  @Text({ optional: true }) environment?: string;
  @Hash({ optional: true, of: 'any', about: 'Exclusions: author, assignee, reviewer, labels, milestone and others.' })
  not?: Readonly<Record<string, unknown>>;
  @OneOf(MERGE_REQUEST_ORDERS, { default: 'created_at' }) order_by: MergeRequestOrder['orderBy'];
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: MergeRequestOrder['sort'];
  @OneOf(['simple'], { optional: true, about: 'Returns the basic shape.' }) view?: 'simple';
  @Flag({ default: false, about: 'Labels as objects instead of names.' }) with_labels_details: boolean;
  @Flag({ default: false, about: 'Accepted; lists show the last result of the check.' })
  with_merge_status_recheck: boolean;
}

/** Parameters for listing merge requests of a project. */
export class ListMergeRequests extends MergeRequestListQuery {
  @OneOf(SCOPES, { default: 'all' }) scope: (typeof SCOPES)[number];
  @ListOf('int', { optional: true }) iids?: readonly number[];
}

export class ListGroupMergeRequests extends MergeRequestListQuery {
  @OneOf(SCOPES, { default: 'all' }) scope: (typeof SCOPES)[number];
  @Flag({ default: true, about: 'Excludes merge requests of archived projects.' }) non_archived: boolean;
}

/** Parameters for listing merge requests of all projects. */
export class ListAllMergeRequests extends MergeRequestListQuery {
  @OneOf(SCOPES, { default: 'created_by_me' }) scope: (typeof SCOPES)[number];
  @Flag({ default: true, about: 'Excludes merge requests of archived projects.' }) non_archived: boolean;
}

type AnyMergeRequestList = ListMergeRequests | ListGroupMergeRequests | ListAllMergeRequests;

/**
 * Maps the parameters of a list to a filter. Filters by properties that no merge request has match nothing.
 * Errors: InvalidParameters. Source: reference repositories 8.7.
 */
export function toMergeRequestFilter(params: AnyMergeRequestList): MergeRequestFilter {
  const { author_id, author_username, merge_user_id, merge_user_username, reviewer_username } = params;
  return {
    state: params.state,
    scope: params.scope.replaceAll('-', '_') as MergeRequestFilter['scope'],
    people: {
      author: { id: author_id, username: author_username || undefined },
      mergeUser: { id: merge_user_id, username: merge_user_username || undefined },
      assignee: { id: parseIdNoneOrAny('assignee_id', params.assignee_id), usernames: params.assignee_username },
      reviewer: {
        id: parseIdNoneOrAny('reviewer_id', params.reviewer_id),
        usernames: reviewer_username ? [reviewer_username] : undefined,
      },
    },
    iids: 'iids' in params ? params.iids : undefined,
    draft: params.draft ?? (params.wip === undefined ? undefined : params.wip === 'yes'),
    sourceBranch: params.source_branch,
    targetBranch: params.target_branch,
    sourceProjectId: params.source_project_id,
    search: params.search,
    searchIn: params.in,
    createdAfter: params.created_after,
    createdBefore: params.created_before,
    updatedAfter: params.updated_after,
    updatedBefore: params.updated_before,
    mergedAfter: params.merged_after,
    mergedBefore: params.merged_before,
    labels: toLabelFilter(params.labels),
    milestone: toMilestoneFilter(params.milestone, 'milestone_id', undefined),
    reaction: params.my_reaction_emoji || undefined,
    isApproved: params.approved && params.approved === 'yes',
    approvedBy: parseApprovedByFilter(params),
    approverIds: parseUserIdsOrPresence('approver_ids', params.approver_ids),
    matchesNothing: hasUnsupportedMergeRequestFilter(params) || undefined,
    not: params.not && parseExclusion(params.not),
  };
}

/** Order and shape of a list. */
export function toMergeRequestOrder(params: AnyMergeRequestList): MergeRequestOrder {
  const isSimple = params.view === 'simple';
  return { orderBy: params.order_by, sort: params.sort, withLabelDetails: params.with_labels_details, isSimple };
}

function hasUnsupportedMergeRequestFilter(params: AnyMergeRequestList): boolean {
  return params.deployed_after !== undefined || params.deployed_before !== undefined || Boolean(params.environment);
}

/** Users by id, else by name. Errors: InvalidParameters. */
function parseApprovedByFilter(params: AnyMergeRequestList): readonly (string | number)[] | undefined {
  const { approved_by_ids: ids, approved_by_usernames: names } = params;
  return parseUserIdsOrPresence('approved_by_ids', ids) ?? (names?.length ? names.slice(0, MOST_APPROVERS) : undefined);
}

/** Parses ids, `None` and `Any`. Returns undefined for no filter. Errors: InvalidParameters. */
function parseUserIdsOrPresence(
  name: string,
  values: readonly string[] | undefined,
): readonly (string | number)[] | undefined {
  const given = (values ?? []).filter((value) => value !== '');
  if (given.length === 0) return undefined;
  return given.slice(0, MOST_APPROVERS).map((value) => (/^(?:none|any)$/i.test(value) ? value : parseId(name, value)!));
}

function parseExclusion(not: Readonly<Record<string, unknown>>): NonNullable<MergeRequestFilter['not']> {
  const reviewer = scalarToText(not['reviewer_username']);
  return {
    author: {
      id: parseId('not[author_id]', scalarToText(not['author_id'])),
      username: scalarToText(not['author_username']),
    },
    assignee: {
      id: parseIdNoneOrAny('not[assignee_id]', scalarToText(not['assignee_id'])),
      usernames: splitList(not['assignee_username']),
    },
    reviewer: {
      id: parseIdNoneOrAny('not[reviewer_id]', scalarToText(not['reviewer_id'])),
      usernames: reviewer ? [reviewer] : [],
    },
    labels: toLabelFilter(splitList(not['labels']).slice(0, MOST_LABELS)),
    milestone: toMilestoneFilter(scalarToText(not['milestone']), 'not[milestone_id]', undefined),
    reaction: scalarToText(not['my_reaction_emoji']) || undefined,
    sourceBranch: scalarToText(not['source_branch']),
    targetBranch: scalarToText(not['target_branch']),
  };
}
