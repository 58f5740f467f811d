import { AtLeastOneOf, Day, Exclusive, Flag, Hash, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { nothingLeft } from '@rookery/kernel';
import type { LabelWish } from '../../planning/labels/labelling/labelling';
import { FROM_WHERE, originOf, WITH_WHAT } from '../../base/noteables/written-from';
import type { WrittenFrom } from '../../base/noteables/written-from';
import { DUE_DATES } from './listing/issue-filter';
import type { DueDate } from './listing/issue-filter';
import type { IssueWish } from './issue-change';
import { ISSUE_TYPES } from './issue.entity';
import type { IssueType } from './issue.entity';
import { EMPTY_ORDERS, ISSUE_ORDERS } from './listing/issue-order';
import type { IssueOrder } from './listing/issue-order';
import type { NewIssue } from './new-issue';

const STATES = ['opened', 'closed', 'all'] as const;
const SCOPES = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const;

@Exclusive('author_id', 'author_username')
@Exclusive('assignee_id', 'assignee_username')
@Exclusive('milestone', 'milestone_id')
class IssueList {
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

/** Lists of issues of one place. */
export class ListIssues extends IssueList {
  @OneOf(SCOPES, { default: 'all' }) scope: (typeof SCOPES)[number];
}

export class ListGroupIssues extends ListIssues {
  @Flag({ default: true, about: 'Whether issues of archived projects are left out.' }) non_archived: boolean;
}

/** Lists of issues of all places. */
export class ListAllIssues extends IssueList {
  @OneOf(SCOPES, { default: 'created_by_me' }) scope: (typeof SCOPES)[number];
  @Flag({ default: true, about: 'Whether issues of archived projects are left out.' }) non_archived: boolean;
}

/** By its id of the whole instance. */
export class OneIssueOfAll {
  @Int() id: number;
}

export class OneIssue {
  @Int() issue_iid: number;
}

/** What both writes take. `assignee_ids` may hold 0 or nothing, `assignee_id` may be 0 or empty: nobody. */
class IssueWrite {
  @Int({ optional: true, nullable: true, min: 0, about: 'Of the project or a group above it; 0 takes it away.' })
  milestone_id?: number | null;
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @ListOf('int', { optional: true, nullable: true }) assignee_ids?: readonly number[] | null;
  @Int({ optional: true, nullable: true, deprecated: 'assignee_ids' }) assignee_id?: number | null;
  @Day({ optional: true, nullable: true }) due_date?: string | null;
  @Int({ optional: true, nullable: true, min: 0, about: 'Null takes it away. Ignored in the plan free.' })
  weight?: number | null;
  @Int({ optional: true, nullable: true, min: 0, about: 'The id of an epic that it is to serve; 0 takes it out.' })
  epic_id?: number | null;
  @Flag({ optional: true }) confidential?: boolean;
  @Flag({ optional: true, nullable: true }) discussion_locked?: boolean | null;
  @OneOf(ISSUE_TYPES, { optional: true }) issue_type?: IssueType;
  @ListOf('text', { optional: true, splitItems: true, about: 'Names; nothing takes all labels away.' })
  labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) add_labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) remove_labels?: readonly string[];
}

/** From where it is opened, as administrators are told, is no part of the body. */
export class CreateIssue extends IssueWrite implements WrittenFrom {
  @Text(WITH_WHAT) user_agent?: string;
  @Text(FROM_WHERE) ip_address?: string;
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) created_at?: Date;
  @Int({ optional: true, min: 1, max: 2_147_483_647, about: 'Administrators and owners; ignored for others.' })
  iid?: number;
}

@AtLeastOneOf('move_after_id', 'move_before_id')
export class ReorderIssue extends OneIssue {
  @Int({ optional: true, about: 'The id, not the number, of an issue of the project that it is to follow.' })
  move_after_id?: number;
  @Int({ optional: true, about: 'That of one that is to follow it.' }) move_before_id?: number;
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
  'confidential',
  'discussion_locked',
  'issue_type',
  'labels',
  'add_labels',
  'remove_labels',
  'state_event',
  'updated_at',
)
export class UpdateIssue extends IssueWrite {
  @Int() issue_iid: number;
  @Text({ optional: true, about: 'At most 255 characters.' }) title?: string;
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) updated_at?: Date;
}

/** The issue that is asked for, without the epic that it is to serve. */
export function newIssueOf({ epic_id: _, user_agent, ip_address, ...params }: CreateIssue): NewIssue {
  const { title, description, assignee_ids, assignee_id, due_date, confidential, milestone_id, ...others } = params;
  const { discussion_locked, issue_type, created_at, iid, weight, labels, add_labels, remove_labels, ...rest } = others;
  nothingLeft(rest);
  return {
    title,
    description: description ?? null,
    issueType: issue_type ?? 'issue',
    confidential: confidential ?? false,
    assigneeIds: wishedAssignees(assignee_ids, assignee_id) ?? [],
    milestoneId: milestone_id || null,
    dueOn: due_date ?? null,
    weight: weight ?? null,
    discussionLocked: discussion_locked ?? null,
    labels: wishedLabels(labels, add_labels, remove_labels),
    createdAt: created_at ?? null,
    iid: iid ?? null,
    ...originOf({ user_agent, ip_address }),
  };
}

/** The change that is asked for, without the epic; the path names the issue. */
export function wishOf({ issue_iid: _, epic_id: __, ...params }: UpdateIssue): IssueWish {
  const { title, description, assignee_ids, assignee_id, due_date, confidential, milestone_id, ...others } = params;
  const { discussion_locked, issue_type, state_event, updated_at, weight, labels, add_labels, remove_labels, ...rest } =
    others;
  nothingLeft(rest);
  return {
    title,
    description,
    weight,
    issueType: issue_type,
    stateEvent: state_event,
    assigneeIds: wishedAssignees(assignee_ids, assignee_id),
    milestoneId: milestone_id === 0 ? null : milestone_id,
    dueOn: due_date,
    confidential,
    discussionLocked: discussion_locked,
    labels: wishedLabels(labels, add_labels, remove_labels),
    updatedAt: updated_at,
  };
}

/** What labels it is to have; undefined = as it is. */
function wishedLabels(
  all: readonly string[] | undefined,
  add: readonly string[] | undefined,
  remove: readonly string[] | undefined,
): LabelWish | undefined {
  return all === undefined && add === undefined && remove === undefined ? undefined : { all, add, remove };
}

/** Who is to be assigned; undefined = as it is. */
function wishedAssignees(
  ids: readonly number[] | null | undefined,
  id: number | null | undefined,
): readonly number[] | undefined {
  if (ids !== undefined) return (ids ?? []).filter((one) => one > 0);
  if (id === undefined) return undefined;
  return id ? [id] : [];
}
