import { AtLeastOneOf, Day, Exclusive, Flag, Hash, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { DUE_DATES } from '../issue-lists/issue-filter';
import type { DueDate } from '../issue-lists/issue-filter';
import { ISSUE_TYPES } from './issue.entity';
import type { IssueType } from './issue.entity';
import { EMPTY_ORDERS, ISSUE_ORDERS } from './issues.queries';
import type { IssueOrder } from './issues.queries';

const STATES = ['opened', 'closed', 'all'] as const;
const SCOPES = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const;

@Exclusive('author_id', 'author_username')
@Exclusive('assignee_id', 'assignee_username')
@Exclusive('milestone', 'milestone_id')
export class ListIssues {
  @OneOf(STATES, { default: 'all' }) state: (typeof STATES)[number];
  @OneOf(SCOPES, { default: 'all' }) scope: (typeof SCOPES)[number];
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author_username?: string;
  @Text({ optional: true, about: 'A user id, `None` or `Any`.' }) assignee_id?: string;
  @ListOf('text', { optional: true, splitItems: true }) assignee_username?: readonly string[];
  @ListOf('int', { optional: true }) iids?: readonly number[];
  @OneOf(ISSUE_TYPES, { optional: true }) issue_type?: IssueType;
  @Flag({ optional: true }) confidential?: boolean;
  @Text({ optional: true, max: 1000 }) search?: string;
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
  @Text({ optional: true }) milestone?: string;
  @Text({ optional: true }) milestone_id?: string;
  @Text({ optional: true }) my_reaction_emoji?: string;
  @Text({ optional: true }) epic_id?: string;
  @Text({ optional: true }) weight?: string;
  @Text({ optional: true }) iteration_id?: string;
  @Text({ optional: true }) iteration_title?: string;
  @Text({ optional: true }) health_status?: string;
  @Flag({ default: false, about: 'Labels as objects instead of names.' }) with_labels_details: boolean;
}

export class OneIssue {
  @Int() issue_iid: number;
}

/** What both writes take. `assignee_ids` may hold 0 or nothing, `assignee_id` may be 0 or empty: nobody. */
class IssueWrite {
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @ListOf('int', { optional: true, nullable: true }) assignee_ids?: readonly number[] | null;
  @Int({ optional: true, nullable: true, deprecated: 'assignee_ids' }) assignee_id?: number | null;
  @Day({ optional: true, nullable: true }) due_date?: string | null;
  @Flag({ optional: true }) confidential?: boolean;
  @Flag({ optional: true, nullable: true }) discussion_locked?: boolean | null;
  @OneOf(ISSUE_TYPES, { optional: true }) issue_type?: IssueType;
}

export class CreateIssue extends IssueWrite {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) created_at?: Date;
  @Int({ optional: true, min: 1, max: 2_147_483_647, about: 'Administrators and owners; ignored for others.' })
  iid?: number;
}

@AtLeastOneOf(
  'title',
  'description',
  'assignee_ids',
  'assignee_id',
  'due_date',
  'confidential',
  'discussion_locked',
  'issue_type',
  'state_event',
  'updated_at',
)
export class EditIssue extends IssueWrite {
  @Int() issue_iid: number;
  @Text({ optional: true, about: 'At most 255 characters.' }) title?: string;
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Instant({ optional: true, about: 'Administrators and owners; ignored for others.' }) updated_at?: Date;
}

/** Who is to be assigned; undefined = as it is. */
export function wishedAssignees(write: IssueWrite): readonly number[] | undefined {
  if (write.assignee_ids !== undefined) return (write.assignee_ids ?? []).filter((id) => id > 0);
  if (write.assignee_id === undefined) return undefined;
  return write.assignee_id ? [write.assignee_id] : [];
}
