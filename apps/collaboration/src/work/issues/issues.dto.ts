import { AtLeastOneOf, Day, AtMostOneOf, Flag, Hash, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { assertAllUsed } from '@rookery/kernel';
import { requestedLabels } from '../../planning/labels/labelling/requested-labels';
import { toRequestedPersonIds } from '../../planning/people/people-filter';
import { IP_ADDRESS_PARAM, toUserAgentColumns, USER_AGENT_PARAM } from '../../base/noteables/user-agent-detail';
import type { UserAgentParams } from '../../base/noteables/user-agent-detail';
import { DUE_DATES } from './listing/issue-filter';
import type { DueDate } from './listing/issue-filter';
import type { FieldPermissions, IssueUpdate } from './issue-change';
import { ISSUE_TYPES } from './issue.entity';
import type { IssueType } from './issue.entity';
import { EMPTY_ORDERS, ISSUE_ORDERS } from './listing/issue-order';
import type { IssueOrder } from './listing/issue-order';
import type { ThreadsToResolveRequest } from './follow-ups/threads-to-resolve';
import type { NewIssue } from './new-issue';

const STATES = ['opened', 'closed', 'all'] as const;
const SCOPES = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const;

@AtMostOneOf('author_id', 'author_username')
@AtMostOneOf('assignee_id', 'assignee_username')
@AtMostOneOf('milestone', 'milestone_id')
class IssueListQuery {
  @OneOf(STATES, { default: 'all' }) state: (typeof STATES)[number];
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author_username?: string;
  @Text({ optional: true, about: 'A user id, `None` or `Any`.' }) assignee_id?: string;
  @ListOf('text', { optional: true, splitItems: true }) assignee_username?: readonly string[];
  @ListOf('int', { optional: true }) iids?: readonly number[];
  @OneOf(ISSUE_TYPES, { optional: true }) issue_type?: IssueType;
  @Flag({ optional: true }) confidential?: boolean;
  @Search() search?: string;
  @ListOf({ oneOf: ['title', 'description'] }, { optional: true }) in?: readonly ('title' | 'description')[];
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
  @OneOf(DUE_DATES, { optional: true }) due_date?: DueDate;
  @OneOf([...ISSUE_ORDERS, ...EMPTY_ORDERS], { default: 'created_at' }) order_by: IssueOrder['orderBy'];
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: IssueOrder['sort'];
  @Hash({ optional: true, of: 'any', about: 'Exclusions: author, assignee, iids, labels and others.' })
  not?: Readonly<Record<string, unknown>>;
  @ListOf('text', { optional: true, splitItems: true }) labels?: readonly string[];
  @Text({ optional: true, about: 'A title, `None` or `Any`.' }) milestone?: string;
  @Text({ optional: true, about: '`None`, `Any`, `Upcoming`, `Started` or an id.' }) milestone_id?: string;
  @Text({ optional: true }) my_reaction_emoji?: string;
  @Text({ optional: true, about: 'An id, `None` or `Any`.' }) epic_id?: string;
  @Text({ optional: true, about: 'A number, `None` or `Any`.' }) weight?: string;
  @Text({ optional: true }) iteration_id?: string;
  @Text({ optional: true }) iteration_title?: string;
  @Text({ optional: true }) health_status?: string;
  @Flag({ default: false, about: 'Labels as objects instead of names.' }) with_labels_details: boolean;
}

/** Parameters for listing issues of a project. */
export class ListIssues extends IssueListQuery {
  @OneOf(SCOPES, { default: 'all' }) scope: (typeof SCOPES)[number];
}

export class ListGroupIssues extends ListIssues {
  @Flag({ default: true, about: 'Excludes issues of archived projects.' }) non_archived: boolean;
}

/** Parameters for listing issues of all projects. */
export class ListAllIssues extends IssueListQuery {
  @OneOf(SCOPES, { default: 'created_by_me' }) scope: (typeof SCOPES)[number];
  @Flag({ default: true, about: 'Excludes issues of archived projects.' }) non_archived: boolean;
}

/** Path parameters of an issue by its global id. */
export class IdentifyIssueById {
  @Int() id: number;
}

export class IdentifyIssue {
  @Int() issue_iid: number;
}

/**
 * Fields that creating and updating an issue share. `assignee_ids` with 0 or empty, and `assignee_id` 0 or empty, mean
 * no assignee.
 */
@AtMostOneOf('epic_id', 'epic_iid')
class IssueWriteFields {
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    about: 'A milestone of the project or an ancestor group; 0 removes it.',
  })
  milestone_id?: number | null;
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @ListOf('int', { optional: true, nullable: true }) assignee_ids?: readonly number[] | null;
  @Int({ optional: true, nullable: true, deprecated: 'assignee_ids' }) assignee_id?: number | null;
  @Day({ optional: true, nullable: true }) due_date?: string | null;
  @Int({ optional: true, nullable: true, min: 0, about: 'Null removes it. Ignored in the free plan.' })
  weight?: number | null;
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    about: 'Id of an epic for the issue; 0 removes the issue from its epic.',
  })
  epic_id?: number | null;
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    deprecated: 'epic_id',
    about: 'Number of an epic of the group of the project.',
  })
  epic_iid?: number | null;
  @Flag({ optional: true }) confidential?: boolean;
  @Flag({ optional: true, nullable: true }) discussion_locked?: boolean | null;
  @OneOf(ISSUE_TYPES, { optional: true }) issue_type?: IssueType;
  @ListOf('text', { optional: true, splitItems: true, about: 'Names; an empty list removes all labels.' })
  labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) add_labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) remove_labels?: readonly string[];
}

/** Parameters for creating an issue. The origin comes from headers and is for administrators. */
export class CreateIssue extends IssueWriteFields implements UserAgentParams {
  @Text(USER_AGENT_PARAM) user_agent?: string;
  @Text(IP_ADDRESS_PARAM) ip_address?: string;
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Instant({ optional: true, about: 'For administrators and owners; ignored from other callers.' }) created_at?: Date;
  @Int({
    optional: true,
    min: 1,
    max: 2_147_483_647,
    about: 'For administrators and owners; ignored from other callers.',
  })
  iid?: number;
  @Int({
    optional: true,
    min: 1,
    about: 'Number of a merge request whose open threads the issue follows up. They are resolved.',
  })
  merge_request_to_resolve_discussions_of?: number;
  @Text({ optional: true, max: 100, about: 'Id of the only thread of that merge request to follow up.' })
  discussion_to_resolve?: string;
}

@AtLeastOneOf('move_after_id', 'move_before_id')
export class ReorderIssue extends IdentifyIssue {
  @Int({
    optional: true,
    about: 'Id, not number, of the issue that comes directly before the moved one, in the same project.',
  })
  move_after_id?: number;
  @Int({ optional: true, about: 'Id of the issue that comes directly after the moved one.' }) move_before_id?: number;
}

@AtLeastOneOf(
  'title',
  'description',
  'assignee_ids',
  'assignee_id',
  'milestone_id',
  'due_date',
  'weight',
  'epic_id',
  'epic_iid',
  'confidential',
  'discussion_locked',
  'issue_type',
  'labels',
  'add_labels',
  'remove_labels',
  'state_event',
  'updated_at',
)
export class UpdateIssue extends IssueWriteFields {
  @Int() issue_iid: number;
  @Text({ optional: true, about: 'At most 255 characters.' }) title?: string;
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Instant({ optional: true, about: 'For administrators and owners; ignored from other callers.' }) updated_at?: Date;
}

const PLANNED = ['assignee_id', 'assignee_ids', 'labels', 'milestone_id', 'due_date', 'discussion_locked'] as const;

/** Names the parameters that have no effect in an issue that a caller with these permissions creates. */
export function listIgnoredCreateIssueParams(
  params: CreateIssue,
  may: FieldPermissions,
): readonly (keyof CreateIssue)[] {
  return [
    ...(toThreadsToResolveRequest(params) ? [] : (['discussion_to_resolve'] as const)),
    ...(may.plan ? [] : ([...PLANNED, 'add_labels'] as const)),
    ...(may.weigh ? [] : (['weight'] as const)),
    ...(may.backdate ? [] : (['created_at', 'iid'] as const)),
  ];
}

/** Names the parameters that have no effect in an update by a caller with these permissions. */
export function listIgnoredUpdateIssueParams(
  { weight }: UpdateIssue,
  may: FieldPermissions,
): readonly (keyof UpdateIssue)[] {
  const mayWeigh = may.weigh || (may.plan && weight === null);
  return [
    ...(may.plan ? [] : ([...PLANNED, 'add_labels', 'remove_labels', 'confidential'] as const)),
    ...(mayWeigh ? [] : (['weight'] as const)),
    ...(may.backdate ? [] : (['updated_at'] as const)),
  ];
}

/** The threads that a new issue follows up, if any. */
export function toThreadsToResolveRequest({
  merge_request_to_resolve_discussions_of: mergeRequestIid,
  discussion_to_resolve: discussionId,
}: CreateIssue): ThreadsToResolveRequest | undefined {
  return mergeRequestIid === undefined ? undefined : { mergeRequestIid, discussionId };
}

/** Maps the parameters to a new issue, without its epic and the threads that it follows up. */
export function toNewIssue({ epic_id: _, epic_iid: __, user_agent, ip_address, ...params }: CreateIssue): NewIssue {
  const { merge_request_to_resolve_discussions_of: ___, discussion_to_resolve: ____, ...fields } = params;
  const { title, description, assignee_ids, assignee_id, due_date, confidential, milestone_id, ...others } = fields;
  const { discussion_locked, issue_type, created_at, iid, weight, labels, add_labels, remove_labels, ...rest } = others;
  assertAllUsed(rest);
  return {
    title,
    description: description ?? null,
    issueType: issue_type ?? 'issue',
    confidential: confidential ?? false,
    assigneeIds: toRequestedPersonIds(assignee_ids, assignee_id) ?? [],
    milestoneId: milestone_id || null,
    dueOn: due_date ?? null,
    weight: weight ?? null,
    discussionLocked: discussion_locked ?? null,
    labels: requestedLabels(labels, add_labels, remove_labels),
    createdAt: created_at ?? null,
    iid: iid ?? null,
    ...toUserAgentColumns({ user_agent, ip_address }),
  };
}

/** Maps the parameters to an update of the issue that the path names, without its epic. */
export function toIssueUpdate({ issue_iid: _, epic_id: __, epic_iid: ___, ...params }: UpdateIssue): IssueUpdate {
  const { title, description, assignee_ids, assignee_id, due_date, confidential, milestone_id, ...others } = params;
  const { discussion_locked, issue_type, state_event, updated_at, weight, labels, add_labels, remove_labels, ...rest } =
    others;
  assertAllUsed(rest);
  return {
    title,
    description,
    weight,
    issueType: issue_type,
    stateEvent: state_event,
    assigneeIds: toRequestedPersonIds(assignee_ids, assignee_id),
    milestoneId: milestone_id === 0 ? null : milestone_id,
    dueOn: due_date,
    confidential,
    discussionLocked: discussion_locked,
    labels: requestedLabels(labels, add_labels, remove_labels),
    updatedAt: updated_at,
  };
}
