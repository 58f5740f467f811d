import type { UpstreamPerson } from '@rookery/contracts';
import type { OwnerOf } from '../../people/people';
import type {
  UpstreamComment,
  UpstreamEvent,
  UpstreamIssue,
  UpstreamLabel,
  UpstreamMilestone,
  UpstreamProtectedBranch,
  UpstreamPullRequest,
  UpstreamRelease,
  UpstreamReview,
  UpstreamReviewComment,
} from '../../sources/upstream-objects';
import type { ObjectForm } from './object-list';

export const labelForm: ObjectForm<'label', UpstreamLabel> = {
  kind: 'label',
  nameOf: ({ name }) => name,
  peopleOf: () => [],
  convert: ({ name, color, description }) => ({ name, color: `#${color}`, description }),
};

export const milestoneForm: ObjectForm<'milestone', UpstreamMilestone> = {
  kind: 'milestone',
  nameOf: ({ title }) => title,
  peopleOf: () => [],
  convert: ({ number, title, description, isClosed, dueOn, createdAt, updatedAt }) => ({
    ...{ number, title, description, state: isClosed ? 'closed' : 'active' },
    ...{ due_on: dueOn, created_at: createdAt, updated_at: updatedAt },
  }),
};

export const releaseForm: ObjectForm<'release', UpstreamRelease> = {
  kind: 'release',
  hasBody: true,
  nameOf: ({ tag }) => tag,
  peopleOf: ({ author }) => [author],
  convert: ({ id, tag, name, body, author, createdAt, publishedAt }, ownerOf) => ({
    ...{ id, tag, name, author_id: ownerOf(author).user_id },
    description: creditAuthorOfSharedAccount(body ?? '', author, ownerOf) || null,
    ...{ created_at: createdAt, released_at: publishedAt ?? createdAt },
  }),
};

export const issueForm: ObjectForm<'issue', UpstreamIssue> = {
  kind: 'issue',
  hasBody: true,
  nameOf: ({ number }) => `#${number}`,
  peopleOf: ({ author, assignees }) => [author, ...assignees],
  convert: (issue, ownerOf) => ({
    ...{ number: issue.number, title: issue.title, labels: [...issue.labels], milestone: issue.milestone },
    author_id: ownerOf(issue.author).user_id,
    description: creditAuthorOfSharedAccount(issue.body ?? '', issue.author, ownerOf) || null,
    state: issue.isClosed ? 'closed' : 'opened',
    is_locked: issue.isLocked,
    ...{ created_at: issue.createdAt, updated_at: issue.updatedAt, closed_at: issue.closedAt },
    assignee_ids: accountIdsOfUpstreamPeople(issue.assignees, ownerOf),
  }),
};

export const pullRequestForm: ObjectForm<'merge_request', UpstreamPullRequest> = {
  kind: 'merge_request',
  hasBody: true,
  nameOf: ({ number }) => `!${number}`,
  peopleOf: ({ author, assignees, reviewers, mergedBy }) => [
    ...[author, ...assignees, ...reviewers],
    ...(mergedBy === null ? [] : [mergedBy]),
  ],
  convert: (request, ownerOf) => ({
    ...{
      number: request.number,
      title: pullRequestTitleWithDraftMark(request),
      labels: [...request.labels],
      milestone: request.milestone,
    },
    author_id: ownerOf(request.author).user_id,
    description: creditAuthorOfSharedAccount(request.body ?? '', request.author, ownerOf) || null,
    ...{ state: request.state, is_locked: request.isLocked, is_foreign: request.isForeign },
    ...{ source_branch: request.head.branch, source_owner: request.head.owner, head_sha: request.head.sha },
    ...{ target_branch: request.base.branch, base_sha: request.base.sha, merge_commit_sha: request.mergeCommitSha },
    merged_by_id: request.mergedBy === null ? null : ownerOf(request.mergedBy).user_id,
    ...{ created_at: request.createdAt, updated_at: request.updatedAt },
    ...{ closed_at: request.closedAt, merged_at: request.mergedAt },
    assignee_ids: accountIdsOfUpstreamPeople(request.assignees, ownerOf),
    reviewer_ids: accountIdsOfUpstreamPeople(request.reviewers, ownerOf),
  }),
};

export const reviewForm: ObjectForm<'review', UpstreamReview> = {
  kind: 'review',
  hasBody: true,
  nameOf: ({ id, number }) => `!${number} (review ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, author, state, body, submittedAt }, ownerOf) => ({
    ...{ id, merge_request: number, author_id: ownerOf(author).user_id, state },
    ...{ body: creditAuthorOfSharedAccount(body ?? '', author, ownerOf) || null, created_at: submittedAt },
  }),
};

/** Comments on lines of pull requests. */
export const reviewCommentForm: ObjectForm<'diff_note', UpstreamReviewComment> = {
  kind: 'diff_note',
  hasBody: true,
  nameOf: ({ id, number }) => `!${number} (comment ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, author, body, path, side, line, startLine, commitId, replyTo, ...times }, ownerOf) => ({
    ...{
      id,
      merge_request: number,
      author_id: ownerOf(author).user_id,
      body: creditAuthorOfSharedAccount(body, author, ownerOf),
    },
    ...{ path, side, line, start_line: startLine, commit_id: commitId, reply_to: replyTo },
    ...{ created_at: times.createdAt, updated_at: times.updatedAt },
  }),
};

/** Changes of issues and pull requests. */
export const eventForm: ObjectForm<'issue_event', UpstreamEvent> = {
  kind: 'issue_event',
  nameOf: ({ number, isOnPullRequest, change }) => `${isOnPullRequest ? '!' : '#'}${number} (${change})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, isOnPullRequest, author, change, name, before, createdAt }, ownerOf) => ({
    ...{ id, issue: isOnPullRequest ? null : number, merge_request: isOnPullRequest ? number : null },
    ...{ author_id: ownerOf(author).user_id, change, name, before, created_at: createdAt },
  }),
};

/** Comments on issues and pull requests. */
export const commentForm: ObjectForm<'note', UpstreamComment> = {
  kind: 'note',
  hasBody: true,
  nameOf: ({ id, number, isOnPullRequest }) => `${isOnPullRequest ? '!' : '#'}${number} (comment ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, isOnPullRequest, author, body, createdAt, updatedAt }, ownerOf) => ({
    ...{ id, issue: isOnPullRequest ? null : number, merge_request: isOnPullRequest ? number : null },
    ...{ author_id: ownerOf(author).user_id, body: creditAuthorOfSharedAccount(body, author, ownerOf) },
    ...{ created_at: createdAt, updated_at: updatedAt },
  }),
};

export const protectedBranchForm: ObjectForm<'protected_branch', UpstreamProtectedBranch> = {
  kind: 'protected_branch',
  nameOf: ({ name }) => name,
  peopleOf: () => [],
  convert: ({ name, needsPullRequest, allowsForcePush }) => ({
    ...{ name, needs_merge_request: needsPullRequest, allows_force_push: allowsForcePush },
  }),
};

/** Drafts are marked in their title. */
function pullRequestTitleWithDraftMark({ title, isDraft }: UpstreamPullRequest): string {
  return isDraft && !/^draft:/i.test(title) ? `Draft: ${title}` : title;
}

function accountIdsOfUpstreamPeople(people: readonly UpstreamPerson[], ownerOf: OwnerOf): number[] {
  return [...new Set(people.map((person) => ownerOf(person).user_id))];
}

/** Names the author of a text that belongs to the account of several people. Source: reference identity-and-import 6.7. */
function creditAuthorOfSharedAccount(text: string, author: UpstreamPerson, ownerOf: OwnerOf): string {
  if (!ownerOf(author).is_shared) return text;
  return `*Created by: ${author.username.replace(/[^\w.-]/g, '')}*\n\n${text}`.trimEnd();
}
