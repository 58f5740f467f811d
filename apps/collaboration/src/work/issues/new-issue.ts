import { Conflict } from '@rookery/kernel';
import { nextInternalId, prepared, raiseInternalId, violates } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { LabelWish } from '../../planning/labels/labelling/labelling';
import type { KeptOrigin } from '../../base/noteables/written-from';
import type { Permits } from './issue-change';
import type { IssueFacts } from './issue-events';
import type { Issue, IssueType } from './issue.entity';

/** What a caller wants opened. */
export interface NewIssue extends KeptOrigin {
  readonly title: string;
  readonly description: string | null;
  readonly issueType: IssueType;
  readonly confidential: boolean;
  readonly assigneeIds: readonly number[];
  readonly labels: LabelWish | undefined;
  /** Null for none. */
  readonly milestoneId: number | null;
  readonly dueOn: string | null;
  /** Null for none. */
  readonly weight: number | null;
  readonly discussionLocked: boolean | null;
  /** Null = now. */
  readonly createdAt: Date | null;
  /** Null = the next number of the project. */
  readonly iid: number | null;
}

/** A new issue without what the caller may not set: such fields are ignored, not refused. Source: reference work-tracking 9.1. */
export function openedAs(wish: NewIssue, may: Permits): NewIssue {
  return {
    ...wish,
    assigneeIds: may.plan ? wish.assigneeIds : [],
    labels: may.plan ? wish.labels : undefined,
    milestoneId: may.plan ? wish.milestoneId : null,
    dueOn: may.plan ? wish.dueOn : null,
    weight: may.weigh ? wish.weight : null,
    discussionLocked: may.plan ? wish.discussionLocked : null,
    createdAt: may.backdate ? wish.createdAt : null,
    iid: may.backdate ? wish.iid : null,
  };
}

interface NewRow extends NewIssue {
  readonly projectId: number;
  readonly authorId: number;
  readonly taskCount: number;
  readonly completedTaskCount: number;
}

const insert = prepared(
  'issues_insert',
  `insert into issues (project_id, iid, author_id, title, description, issue_type, confidential, due_on,
     discussion_locked, task_count, completed_task_count, created_at, updated_at, milestone_id, weight,
     user_agent, ip_address)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, now()), coalesce($12::timestamptz, now()),
     $13, $14::integer, $15, $16)
   returning id, created_at`,
);

/**
 * Stores a new issue under its number. The number is taken last, so that the counter's row is locked shortly.
 * Errors: Conflict when a given number is taken.
 */
export async function insertIssue(tx: Tx, issue: NewRow): Promise<IssueFacts> {
  const { projectId, authorId, confidential } = issue;
  if (issue.iid !== null) await raiseInternalId(tx, 'issues', projectId, issue.iid);
  const iid = issue.iid ?? (await nextInternalId(tx, 'issues', projectId));
  const { title, description, issueType, dueOn, discussionLocked, taskCount, completedTaskCount } = issue;
  const texts = [title, description, issueType, confidential, dueOn, discussionLocked];
  const values = [
    projectId,
    iid,
    authorId,
    ...texts,
    taskCount,
    completedTaskCount,
    issue.createdAt,
    issue.milestoneId,
    issue.weight,
    issue.userAgent,
    issue.ipAddress,
  ];
  try {
    const [row] = await tx.prepared<RowOf<Issue, 'id' | 'createdAt'>>(insert, values);
    return { id: row!.id, iid, projectId, authorId, confidential, createdAt: row!.created_at };
  } catch (error) {
    if (violates(error, 'uq_issues_project_id_iid')) throw new Conflict('Duplicated issue');
    throw error;
  }
}
