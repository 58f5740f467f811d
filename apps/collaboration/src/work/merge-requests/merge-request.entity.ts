import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Milestone } from '../../planning/milestones/milestone.entity';

export const MERGE_REQUEST_STATES = ['opened', 'closed', 'merged', 'locked'] as const;
export type MergeRequestState = (typeof MERGE_REQUEST_STATES)[number];

/** Stored results of the check whether git can merge. Source: reference repositories 8.3. */
export type StoredMergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged' | 'cannot_be_merged_recheck';

/** An attempt to merge. It is stored before git moves the target branch, and matched by the branch's new value. */
interface MergeAttempt {
  /** New value of the target branch. */
  readonly tip: string;
  /** Head of the request. A fast-forward has it as `tip`. Absent in attempts of former releases. */
  readonly head?: string;
  /** The user who merges. Absent in attempts of former releases. */
  readonly userId?: number;
  readonly mergeCommitSha: string | null;
  readonly squashCommitSha: string | null;
  /** Whether the automatic merge does it; absent if not. */
  readonly isAutomatic?: boolean;
}

/**
 * The last attempt to merge. `earlier` are the attempts before it, the newest first. Each of them may still move the
 * target branch, or may have moved it without a settlement: its process may be slow or dead.
 */
export interface MergeIntent extends MergeAttempt {
  readonly earlier?: readonly MergeAttempt[];
}

/** Returns the attempt to merge whose result is `tip`, a value of the target branch; null if there is none. */
export function findMergeAttempt(intent: MergeIntent | null, tip: string): MergeAttempt | null {
  const attempts = intent === null ? [] : [intent, ...(intent.earlier ?? [])];
  return attempts.find((one) => one.tip === tip) ?? null;
}

/** A request to merge one branch into another. Source: reference repositories 8.2. */
@Entity('merge_requests')
@Check('ck_merge_requests_title', 'char_length(title) between 1 and 255')
@Check('ck_merge_requests_description', 'char_length(description) <= 1048576')
@Check('ck_merge_requests_state', `state in ('opened', 'closed', 'merged', 'locked')`)
@Check('ck_merge_requests_closed', `(state = 'closed') = (closed_at is not null)`)
@Check('ck_merge_requests_merged', `(state = 'merged') = (merged_at is not null)`)
@Check(
  'ck_merge_requests_merge_status',
  `merge_status in ('unchecked', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck')`,
)
@Check(
  'ck_merge_requests_notes_counts',
  'public_notes_count >= 0 and internal_notes_count >= 0 and system_notes_count >= 0',
)
@Check('ck_merge_requests_times', 'time_estimate >= 0 and total_time_spent >= 0')
@Unique('uq_merge_requests_project_id_iid', ['projectId', 'iid'])
@Index('uq_merge_requests_open_pair', ['sourceProjectId', 'sourceBranch', 'projectId', 'targetBranch'], {
  unique: true,
  where: `state = 'opened'`,
})
@Index('ix_merge_requests_project_id_created_at', { synchronize: false })
@Index('ix_merge_requests_project_id_updated_at', { synchronize: false })
@Index('ix_merge_requests_project_id_created_at_opened', { synchronize: false })
@Index('ix_merge_requests_project_id_target_branch', ['projectId', 'targetBranch'], { where: `state = 'opened'` })
@Index('ix_merge_requests_closed_in_merge', ['projectId', 'targetBranch'], {
  where: `state = 'closed' and merge_intent is not null`,
})
@Index('ix_merge_requests_author_id_project_id', ['authorId', 'projectId', 'id'])
@Index('ix_merge_requests_source_project_id', ['sourceProjectId', 'sourceBranch'])
@Index('ix_merge_requests_milestone_id', { synchronize: false })
@Index('ix_merge_requests_closed_by_id', ['closedById'], { where: 'closed_by_id is not null' })
@Index('ix_merge_requests_merged_by_id', ['mergedById'], { where: 'merged_by_id is not null' })
@Index('ix_merge_requests_auto_merge_user_id', ['autoMergeUserId'], { where: 'auto_merge_user_id is not null' })
@Index('ix_merge_requests_merge_commit_sha', ['projectId', 'mergeCommitSha'], { where: 'merge_commit_sha is not null' })
@Index('ix_merge_requests_unpublished', ['id'], { where: 'head_sha is distinct from published_sha' })
export class MergeRequest {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_merge_requests',
  })
  id: number;
  /** The project of the target branch. */
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  /** The last editors of the title and of the description. */
  @Column({ type: 'bigint', nullable: true }) titleEditedById: number | null;
  @Column({ type: 'bigint', nullable: true }) editedById: number | null;
  @Column({ type: 'text', default: 'opened' }) state: MergeRequestState;
  /** Follows from the title. */
  @Column({ type: 'boolean', default: false }) draft: boolean;
  @Column({ type: 'boolean', nullable: true }) discussionLocked: boolean | null;
  /** Null if the fork was deleted. */
  @Column({ type: 'bigint', nullable: true }) sourceProjectId: number | null;
  @Column({ type: 'text' }) sourceBranch: string;
  @Column({ type: 'text' }) targetBranch: string;
  @ForeignKey(() => Milestone, { name: 'fk_merge_requests_milestone_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  milestoneId: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) closedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) closedById: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) mergedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) mergedById: number | null;
  /** The user who asked to merge as soon as all checks pass; null without such a request. */
  @Column({ type: 'bigint', nullable: true }) autoMergeUserId: number | null;
  /** Messages and squash wish of that request. */
  @Column({ type: 'jsonb', nullable: true }) autoMergeWishes: object | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) mergeAfter: Date | null;
  @Column({ type: 'boolean', default: false }) squash: boolean;
  @Column({ type: 'boolean', default: false }) allowCollaboration: boolean;
  /** User who last allowed it; null for the author. Others may push only as long as this user may. */
  @Column({ type: 'bigint', nullable: true }) collaborationGrantedById: number | null;
  /** Wish of the merge call; null before it. */
  @Column({ type: 'boolean', nullable: true }) shouldRemoveSourceBranch: boolean | null;
  /** Wish at creation. */
  @Column({ type: 'boolean', nullable: true }) forceRemoveSourceBranch: boolean | null;
  @Column({ type: 'text', default: 'unchecked' }) mergeStatus: StoredMergeStatus;
  /** Commits for which `mergeStatus` was computed. */
  @Column({ type: 'text', nullable: true }) checkedSourceSha: string | null;
  @Column({ type: 'text', nullable: true }) checkedTargetSha: string | null;
  /** Whether the source lacks commits of the target, for the commits of the check. */
  @Column({ type: 'boolean', default: false }) isBehind: boolean;
  /** Whether the last check that could compare the branches found conflicts. */
  @Column({ type: 'boolean', default: false }) isConflicting: boolean;
  @Column({ type: 'text', nullable: true }) mergeError: string | null;
  @Column({ type: 'jsonb', nullable: true }) mergeIntent: MergeIntent | null;
  @Column({ type: 'text', nullable: true }) mergeCommitSha: string | null;
  @Column({ type: 'text', nullable: true }) squashCommitSha: string | null;
  /** Whether it has rules of its own for approvals in place of those of the project. */
  @Column({ type: 'boolean', default: false }) approvalRulesOverwritten: boolean;
  /** Commits of the latest version: source, merge base and target. */
  @Column({ type: 'text', nullable: true }) headSha: string | null;
  @Column({ type: 'text', nullable: true }) baseSha: string | null;
  @Column({ type: 'text', nullable: true }) startSha: string | null;
  @Column({ type: 'integer', nullable: true }) filesCount: number | null;
  @Column({ type: 'integer', default: 0 }) commitsCount: number;
  /** Value of `refs/merge-requests/<iid>/head`. A job repeats the update of the ref while it differs from `headSha`. */
  @Column({ type: 'text', nullable: true }) publishedSha: string | null;
  @Column({ type: 'integer', default: 0 }) publicNotesCount: number;
  @Column({ type: 'integer', default: 0 }) internalNotesCount: number;
  @Column({ type: 'integer', default: 0 }) systemNotesCount: number;
  @Column({ type: 'integer', default: 0 }) upvotesCount: number;
  @Column({ type: 'integer', default: 0 }) downvotesCount: number;
  @Column({ type: 'integer', default: 0 }) taskCount: number;
  @Column({ type: 'integer', default: 0 }) completedTaskCount: number;
  /** Units: seconds. */
  @Column({ type: 'integer', default: 0 }) timeEstimate: number;
  @Column({ type: 'integer', default: 0 }) totalTimeSpent: number;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** An assignee of a merge request. `position` is the order of assignment. */
@Entity('merge_request_assignees')
@Index('ix_merge_request_assignees_user_id', ['userId', 'mergeRequestId'])
export class MergeRequestAssignee {
  @ForeignKey(() => MergeRequest, { name: 'fk_merge_request_assignees_merge_request_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_assignees' })
  mergeRequestId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_assignees' }) userId: number;
  @Column({ type: 'integer' }) position: number;
}

/** States of a review. Source: reference repositories 8.6. */
export const REVIEW_STATES = [
  'unreviewed',
  'reviewed',
  'requested_changes',
  'approved',
  'unapproved',
  'review_started',
] as const;

/** A user whose review was requested. `position` is the order of the requests. */
@Entity('merge_request_reviewers')
@Check(
  'ck_merge_request_reviewers_state',
  `state in ('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started')`,
)
@Index('ix_merge_request_reviewers_user_id', ['userId', 'mergeRequestId'])
export class MergeRequestReviewer {
  @ForeignKey(() => MergeRequest, { name: 'fk_merge_request_reviewers_merge_request_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_reviewers' })
  mergeRequestId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_reviewers' }) userId: number;
  @Column({ type: 'integer' }) position: number;
  @Column({ type: 'text', default: 'unreviewed' }) state: (typeof REVIEW_STATES)[number];
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** Version of a merge request: the commits that it would merge at one time. Source: reference repositories 8.5. */
@Entity('merge_request_versions')
@Check('ck_merge_request_versions_state', `state in ('collected', 'overflow', 'without_files', 'empty')`)
@Index('ix_merge_request_versions_merge_request_id', { synchronize: false })
export class MergeRequestVersion {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_merge_request_versions',
  })
  id: number;
  @ForeignKey(() => MergeRequest, { name: 'fk_merge_request_versions_merge_request_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  mergeRequestId: number;
  @Column({ type: 'text' }) headSha: string;
  /** Null for histories without a common ancestor. */
  @Column({ type: 'text', nullable: true }) baseSha: string | null;
  @Column({ type: 'text' }) startSha: string;
  @Column({ type: 'integer' }) filesCount: number;
  @Column({ type: 'integer' }) commitsCount: number;
  @Column({ type: 'text', default: 'collected' }) state: 'collected' | 'overflow' | 'without_files' | 'empty';
  /** Null without changes, for a diff that is too large for git, and for versions from before the column. */
  @Column({ type: 'text', nullable: true }) patchIdSha: string | null;
  /** Time of the push, so that versions of pushes that were settled late keep their place. */
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** Beginnings of the title of a draft. Source: reference repositories 8.4. */
const DRAFT = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i;

/** Checks whether a title marks a draft. */
export function isDraftTitle(title: string): boolean {
  return DRAFT.test(title);
}

/** Returns a title without the mark of a draft. */
export function withoutDraftMark(title: string): string {
  return title.replace(DRAFT, '');
}
