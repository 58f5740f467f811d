import { Invalid, lengthProblems, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { findTasks } from '../../talk/mentions/task-items';
import { Milestone } from '../../planning/milestones/milestone.entity';

export const ISSUE_TYPES = ['issue', 'incident', 'test_case', 'task'] as const;
export type IssueType = (typeof ISSUE_TYPES)[number];
export type IssueState = 'opened' | 'closed';

/** Units: characters. Source: requirements 1 §8; reference work-tracking 9.1. */
const MAX_TITLE_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_048_576;

/** An issue: a unit of work of a project. Source: reference work-tracking 9.1. */
@Entity('issues')
@Check('ck_issues_title', 'char_length(title) between 1 and 255')
@Check('ck_issues_description', 'char_length(description) <= 1048576')
@Check('ck_issues_state', `state in ('opened', 'closed')`)
@Check('ck_issues_issue_type', `issue_type in ('issue', 'incident', 'test_case', 'task')`)
@Check('ck_issues_closed', `(state = 'closed') = (closed_at is not null)`)
@Check('ck_issues_notes_counts', 'public_notes_count >= 0 and internal_notes_count >= 0 and system_notes_count >= 0')
@Check('ck_issues_weight', 'weight >= 0')
@Check('ck_issues_times', 'time_estimate >= 0 and total_time_spent >= 0')
@Unique('uq_issues_project_id_iid', ['projectId', 'iid'])
@Index('ix_issues_project_id_created_at', { synchronize: false })
@Index('ix_issues_project_id_updated_at', { synchronize: false })
@Index('ix_issues_project_id_created_at_opened', { synchronize: false })
@Index('ix_issues_project_id_due_on', ['projectId', 'dueOn', 'id'], { where: 'due_on is not null' })
@Index('ix_issues_due_on', ['dueOn', 'id'], { where: `state = 'opened' and due_on is not null` })
@Index('ix_issues_author_id_project_id', ['authorId', 'projectId', 'id'])
@Index('ix_issues_milestone_id', { synchronize: false })
@Index('ix_issues_project_id_created_at_planned', { synchronize: false })
@Index('ix_issues_project_id_weight', { synchronize: false })
@Index('ix_issues_closed_by_id', ['closedById'], { where: 'closed_by_id is not null' })
@Index('ix_issues_moved_to_id', ['movedToId'], { where: 'moved_to_id is not null' })
@Index('ix_issues_duplicated_to_id', ['duplicatedToId'], { where: 'duplicated_to_id is not null' })
export class Issue {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_issues',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  /** The last editors of the title and of the description. */
  @Column({ type: 'bigint', nullable: true }) titleEditedById: number | null;
  @Column({ type: 'bigint', nullable: true }) editedById: number | null;
  @Column({ type: 'text', default: 'opened' }) state: IssueState;
  @Column({ type: 'boolean', default: false }) confidential: boolean;
  @Column({ type: 'boolean', nullable: true }) discussionLocked: boolean | null;
  @Column({ type: 'text', default: 'issue' }) issueType: IssueType;
  @ForeignKey(() => Milestone, { name: 'fk_issues_milestone_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  milestoneId: number | null;
  /** Calendar day, `YYYY-MM-DD`. */
  @Column({ type: 'date', nullable: true }) dueOn: string | null;
  @Column({ type: 'integer', nullable: true }) weight: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) closedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) closedById: number | null;
  @Column({ type: 'integer', default: 0 }) publicNotesCount: number;
  @Column({ type: 'integer', default: 0 }) internalNotesCount: number;
  @Column({ type: 'integer', default: 0 }) systemNotesCount: number;
  @Column({ type: 'integer', default: 0 }) upvotesCount: number;
  @Column({ type: 'integer', default: 0 }) downvotesCount: number;
  @Column({ type: 'integer', default: 0 }) taskCount: number;
  @Column({ type: 'integer', default: 0 }) completedTaskCount: number;
  /** Position in the project; null until a user moves the issue: then its id decides (`issuePositionSql`). */
  @Column({ type: 'bigint', nullable: true }) relativePosition: number | null;
  /** Units: seconds. */
  @Column({ type: 'integer', default: 0 }) timeEstimate: number;
  @Column({ type: 'integer', default: 0 }) totalTimeSpent: number;
  /** The copy of a moved issue in its new project. */
  @ForeignKey(() => Issue, { name: 'fk_issues_moved_to_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  movedToId: number | null;
  /** The issue that it duplicates. */
  @ForeignKey(() => Issue, { name: 'fk_issues_duplicated_to_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  duplicatedToId: number | null;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  /** User agent and IP address of its creation, for administrators; null after its author is removed. */
  @Column({ type: 'text', nullable: true }) userAgent: string | null;
  @Column({ type: 'text', nullable: true }) ipAddress: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** An assignee of an issue. `position` is the order of assignment. */
@Entity('issue_assignees')
@Index('ix_issue_assignees_user_id', ['userId', 'issueId'])
export class IssueAssignee {
  @ForeignKey(() => Issue, { name: 'fk_issue_assignees_issue_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_issue_assignees' })
  issueId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_issue_assignees' }) userId: number;
  @Column({ type: 'integer' }) position: number;
}

/**
 * Returns the texts with the title as it is stored: without outer blanks. Errors: Invalid with all problems of title and
 * description. Source: reference work-tracking 9.1.
 */
export function checkTitleAndDescription<
  T extends { readonly title?: string | undefined; readonly description?: string | null | undefined },
>(texts: T): T {
  const title = texts.title?.trim();
  const problems = keepFieldsWithProblems({
    title: title === '' ? ["can't be blank"] : lengthProblems(title ?? '', MAX_TITLE_LENGTH),
    description: lengthProblems(texts.description ?? '', MAX_DESCRIPTION_LENGTH),
  });
  if (Object.keys(problems).length > 0) throw new Invalid(problems);
  return title === undefined ? texts : { ...texts, title };
}

/** Counts the checkboxes of a description. */
export function countDescriptionTasks(description: string | null): Pick<Issue, 'taskCount' | 'completedTaskCount'> {
  const items = findTasks(description);
  return { taskCount: items.length, completedTaskCount: items.filter((item) => item.done).length };
}
