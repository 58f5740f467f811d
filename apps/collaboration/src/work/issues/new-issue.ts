import { Conflict } from '@rookery/kernel';
import { nextInternalId, prepareStatement, raiseInternalId, violatesConstraint } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { RequestedLabels } from '../../planning/labels/labelling/labelling';
import type { UserAgentColumns } from '../../base/noteables/user-agent-detail';
import type { FieldPermissions } from './issue-change';
import type { IssueFacts } from './issue-events';
import type { Issue, IssueType } from './issue.entity';

/** Fields of an issue to create. */
export interface NewIssue extends UserAgentColumns {
  readonly title: string;
  readonly description: string | null;
  readonly issueType: IssueType;
  readonly confidential: boolean;
  readonly assigneeIds: readonly number[];
  readonly labels: RequestedLabels | undefined;
  /** Null for none. */
  readonly milestoneId: number | null;
  readonly dueOn: string | null;
  /** Null for none. */
  readonly weight: number | null;
  readonly discussionLocked: boolean | null;
  /** Null for the current time. */
  readonly createdAt: Date | null;
  /** Null for the next number of the project. */
  readonly iid: number | null;
}

/**
 * Removes the fields that the caller may not set: they are ignored, not refused. Source: reference work-tracking 9.1.
 */
export function keepPermittedIssueFields(issue: NewIssue, may: FieldPermissions): NewIssue {
  return {
    ...issue,
    assigneeIds: may.plan ? issue.assigneeIds : [],
    labels: may.plan ? issue.labels : undefined,
    milestoneId: may.plan ? issue.milestoneId : null,
    dueOn: may.plan ? issue.dueOn : null,
    weight: may.weigh ? issue.weight : null,
    discussionLocked: may.plan ? issue.discussionLocked : null,
    createdAt: may.backdate ? issue.createdAt : null,
    iid: may.backdate ? issue.iid : null,
  };
}

interface NewIssueRow extends NewIssue {
  readonly projectId: number;
  readonly authorId: number;
  readonly taskCount: number;
  readonly completedTaskCount: number;
}

const insertIssueRow = prepareStatement(
  'issues_insert',
  `insert into issues (project_id, iid, author_id, title, description, issue_type, confidential, due_on,
     discussion_locked, task_count, completed_task_count, created_at, updated_at, milestone_id, weight,
     user_agent, ip_address)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, now()), coalesce($12::timestamptz, now()),
     $13, $14::integer, $15, $16)
   returning id, created_at`,
);

/**
 * Inserts a new issue. The number is taken last, so that the row of the counter is locked only briefly.
 * Errors: Conflict if a given number is in use.
 */
export async function insertIssue(tx: Tx, issue: NewIssueRow): Promise<IssueFacts> {
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
    const [row] = await tx.prepared<RowOf<Issue, 'id' | 'createdAt'>>(insertIssueRow, values);
    return { id: row!.id, iid, projectId, authorId, confidential, createdAt: row!.created_at };
  } catch (error) {
    if (violatesConstraint(error, 'uq_issues_project_id_iid')) throw new Conflict('Duplicated issue');
    throw error;
  }
}
