import type { ImportedObject, UpstreamPerson } from '@rookery/contracts';

export interface UpstreamLabel {
  readonly name: string;
  /** Hexadecimal digits `rrggbb`. */
  readonly color: string;
  readonly description: string | null;
}

export interface UpstreamMilestone {
  readonly number: number;
  readonly title: string;
  readonly description: string | null;
  readonly isClosed: boolean;
  readonly dueOn: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface UpstreamIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly isClosed: boolean;
  readonly isLocked: boolean;
  readonly author: UpstreamPerson;
  readonly assignees: readonly UpstreamPerson[];
  readonly labels: readonly string[];
  readonly milestone: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
}

export interface UpstreamPullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'opened' | 'closed' | 'merged';
  readonly isDraft: boolean;
  readonly isLocked: boolean;
  readonly author: UpstreamPerson;
  readonly assignees: readonly UpstreamPerson[];
  readonly reviewers: readonly UpstreamPerson[];
  /** Null for one that is not merged, and if the host does not say who merged it. */
  readonly mergedBy: UpstreamPerson | null;
  readonly labels: readonly string[];
  readonly milestone: number | null;
  readonly head: UpstreamCommit;
  readonly base: UpstreamCommit;
  /** Whether the head is a branch of another repository. */
  readonly isForeign: boolean;
  readonly mergeCommitSha: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
  readonly mergedAt: string | null;
}

/** A branch with the commit that a pull request compares. `owner` is a username, or empty if it is unknown. */
export interface UpstreamCommit {
  readonly branch: string;
  readonly sha: string;
  readonly owner: string;
}

/** A comment on an issue or a pull request. */
export interface UpstreamComment {
  readonly id: number;
  /** Number of the issue or pull request. */
  readonly number: number;
  readonly isOnPullRequest: boolean;
  readonly author: UpstreamPerson;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * A change of an issue or a pull request. `name` is the label, the title of the milestone, the new title, the username,
 * or a reference to the object that mentions this one; `before` is the former title.
 */
export interface UpstreamEvent {
  readonly id: number;
  readonly number: number;
  readonly isOnPullRequest: boolean;
  readonly author: UpstreamPerson;
  readonly change: ImportedObject<'issue_event'>['change'];
  readonly name: string | null;
  readonly before: string | null;
  readonly createdAt: string;
}

/** A review of a pull request. */
export interface UpstreamReview {
  readonly id: number;
  readonly number: number;
  readonly author: UpstreamPerson;
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
  readonly body: string | null;
  readonly submittedAt: string;
}

/**
 * A comment on a line of a pull request. `line` is null for a comment on a whole file; `replyTo` is null for the first
 * comment of a thread.
 */
export interface UpstreamReviewComment {
  readonly id: number;
  readonly number: number;
  readonly author: UpstreamPerson;
  readonly body: string;
  readonly path: string;
  readonly side: 'old' | 'new';
  readonly line: number | null;
  readonly startLine: number | null;
  /** Commit whose lines are counted. */
  readonly commitId: string;
  readonly replyTo: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface UpstreamRelease {
  readonly id: number;
  readonly tag: string;
  readonly name: string | null;
  readonly body: string | null;
  readonly author: UpstreamPerson;
  readonly createdAt: string;
  readonly publishedAt: string | null;
}

/** A protected branch. Both flags are false if the credential may not read the protection. */
export interface UpstreamProtectedBranch {
  readonly name: string;
  readonly needsPullRequest: boolean;
  readonly allowsForcePush: boolean;
}
