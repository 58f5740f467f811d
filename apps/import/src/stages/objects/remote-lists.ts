import type { UpstreamPerson } from '@rookery/contracts';
import type { OwnerOf } from '../../people/people';
import {
  commentIn,
  commentsPathOf,
  isPullRequest,
  issueIn,
  labelIn,
  mergedPathOf,
  milestoneIn,
  pullRequestIn,
} from '../../sources/remote/remote-objects';
import type {
  RemoteComment,
  RemoteIssue,
  RemoteLabel,
  RemoteMilestone,
  RemotePullRequest,
} from '../../sources/remote/remote-objects';
import { isPublished, protectedBranchIn, protectionPathOf, releaseIn } from '../../sources/remote/remote-releases';
import type { RemoteProtectedBranch, RemoteRelease } from '../../sources/remote/remote-releases';
import {
  hasContent,
  reviewCommentIn,
  reviewCommentsPathOf,
  reviewIn,
  reviewsPathOf,
} from '../../sources/remote/remote-reviews';
import type { RemoteReview, RemoteReviewComment } from '../../sources/remote/remote-reviews';
import { objectList } from './object-list';
import type { ObjectList } from './object-list';

const labels = objectList<'label', RemoteLabel>({
  kind: 'label',
  path: '/labels',
  read: labelIn,
  nameOf: ({ name }) => name,
  peopleOf: () => [],
  convert: ({ name, color, description }) => ({ name, color: `#${color}`, description }),
});

const milestones = objectList<'milestone', RemoteMilestone>({
  kind: 'milestone',
  path: '/milestones?state=all',
  read: milestoneIn,
  nameOf: ({ title }) => title,
  peopleOf: () => [],
  convert: ({ number, title, description, isClosed, dueOn, createdAt, updatedAt }) => ({
    ...{ number, title, description, state: isClosed ? 'closed' : 'active' },
    ...{ due_on: dueOn, created_at: createdAt, updated_at: updatedAt },
  }),
});

const releases = objectList<'release', RemoteRelease>({
  kind: 'release',
  path: '/releases',
  includes: isPublished,
  read: releaseIn,
  nameOf: ({ tag }) => tag,
  peopleOf: ({ author }) => [author],
  convert: ({ id, tag, name, body, author, createdAt, publishedAt }, ownerOf) => ({
    ...{ id, tag, name, author_id: ownerOf(author).user_id },
    description: attributed(body ?? '', author, ownerOf) || null,
    ...{ created_at: createdAt, released_at: publishedAt ?? createdAt },
  }),
});

const issues = objectList<'issue', RemoteIssue>({
  kind: 'issue',
  path: '/issues?state=all&sort=created&direction=asc',
  includes: (item) => !isPullRequest(item),
  read: issueIn,
  nameOf: ({ number }) => `#${number}`,
  peopleOf: ({ author, assignees }) => [author, ...assignees],
  convert: (issue, ownerOf) => ({
    ...{ number: issue.number, title: issue.title, labels: [...issue.labels], milestone: issue.milestone },
    author_id: ownerOf(issue.author).user_id,
    description: attributed(issue.body ?? '', issue.author, ownerOf) || null,
    state: issue.isClosed ? 'closed' : 'opened',
    is_locked: issue.isLocked,
    ...{ created_at: issue.createdAt, updated_at: issue.updatedAt, closed_at: issue.closedAt },
    assignee_ids: idsOf(issue.assignees, ownerOf),
  }),
});

const pullRequests = objectList<'merge_request', RemotePullRequest>({
  kind: 'merge_request',
  path: '/pulls?state=all&sort=created&direction=asc',
  detailsOf: mergedPathOf,
  read: pullRequestIn,
  nameOf: ({ number }) => `!${number}`,
  peopleOf: ({ author, assignees, reviewers, mergedBy }) => [
    ...[author, ...assignees, ...reviewers],
    ...(mergedBy === null ? [] : [mergedBy]),
  ],
  convert: (request, ownerOf) => ({
    ...{ number: request.number, title: titleOf(request), labels: [...request.labels], milestone: request.milestone },
    author_id: ownerOf(request.author).user_id,
    description: attributed(request.body ?? '', request.author, ownerOf) || null,
    ...{ state: request.state, is_locked: request.isLocked, is_foreign: request.isForeign },
    ...{ source_branch: request.head.branch, source_owner: request.head.owner, head_sha: request.head.sha },
    ...{ target_branch: request.base.branch, base_sha: request.base.sha, merge_commit_sha: request.mergeCommitSha },
    merged_by_id: request.mergedBy === null ? null : ownerOf(request.mergedBy).user_id,
    ...{ created_at: request.createdAt, updated_at: request.updatedAt },
    ...{ closed_at: request.closedAt, merged_at: request.mergedAt },
    assignee_ids: idsOf(request.assignees, ownerOf),
    reviewer_ids: idsOf(request.reviewers, ownerOf),
  }),
});

const reviews = objectList<'review', RemoteReview>({
  kind: 'review',
  path: '/pulls?state=all&sort=created&direction=asc',
  membersOf: reviewsPathOf,
  includes: hasContent,
  read: reviewIn,
  nameOf: ({ id, number }) => `!${number} (review ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, author, state, body, submittedAt }, ownerOf) => ({
    ...{ id, merge_request: number, author_id: ownerOf(author).user_id, state },
    ...{ body: attributed(body ?? '', author, ownerOf) || null, created_at: submittedAt },
  }),
});

/** Comments on lines of pull requests. */
const reviewComments: ObjectList<'diff_note', RemoteReviewComment> = {
  kind: 'diff_note',
  path: '/pulls/comments?sort=created&direction=asc',
  read: reviewCommentIn,
  nameOf: ({ id, number }) => `!${number} (comment ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, author, body, path, side, line, startLine, commitId, replyTo, ...times }, ownerOf) => ({
    ...{ id, merge_request: number, author_id: ownerOf(author).user_id, body: attributed(body, author, ownerOf) },
    ...{ path, side, line, start_line: startLine, commit_id: commitId, reply_to: replyTo },
    ...{ created_at: times.createdAt, updated_at: times.updatedAt },
  }),
};

/** Comments on issues and pull requests. */
const comments: ObjectList<'note', RemoteComment> = {
  kind: 'note',
  path: '/issues/comments?sort=created&direction=asc',
  read: commentIn,
  nameOf: ({ id, number, isOnPullRequest }) => `${isOnPullRequest ? '!' : '#'}${number} (comment ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, isOnPullRequest, author, body, createdAt, updatedAt }, ownerOf) => ({
    ...{ id, issue: isOnPullRequest ? null : number, merge_request: isOnPullRequest ? number : null },
    ...{ author_id: ownerOf(author).user_id, body: attributed(body, author, ownerOf) },
    ...{ created_at: createdAt, updated_at: updatedAt },
  }),
};

const protectedBranches = objectList<'protected_branch', RemoteProtectedBranch>({
  kind: 'protected_branch',
  path: '/branches?protected=true',
  detailsOf: protectionPathOf,
  read: protectedBranchIn,
  nameOf: ({ name }) => name,
  peopleOf: () => [],
  convert: ({ name, needsPullRequest, allowsForcePush }) => ({
    ...{ name, needs_merge_request: needsPullRequest, allows_force_push: allowsForcePush },
  }),
});

/** Comments in one list of each kind. */
const COMMENT_LISTS = [objectList(reviewComments), objectList(comments)];
/** Comments in a list of each pull request and issue. The list of issues has pull requests, too. */
const COMMENT_LISTS_OF_EACH = [
  objectList({
    ...reviewComments,
    path: '/pulls?state=all&sort=created&direction=asc',
    membersOf: reviewCommentsPathOf,
  }),
  objectList({ ...comments, path: '/issues?state=all&sort=created&direction=asc', membersOf: commentsPathOf }),
];

/**
 * Returns the lists of the host, in the order of the stages. Shape: with `single_endpoint_notes`, comments are read for each
 * issue and pull request. Source: reference identity-and-import 6.6, 6.9.
 */
export function remoteLists({ single_endpoint_notes: isOfEach }: ListChoice): readonly ObjectList[] {
  const commentLists = isOfEach ? COMMENT_LISTS_OF_EACH : COMMENT_LISTS;
  return [labels, milestones, releases, issues, pullRequests, reviews, ...commentLists, protectedBranches];
}

interface ListChoice {
  readonly single_endpoint_notes: boolean;
}

/** Drafts are marked in their title. */
function titleOf({ title, isDraft }: RemotePullRequest): string {
  return isDraft && !/^draft:/i.test(title) ? `Draft: ${title}` : title;
}

function idsOf(people: readonly UpstreamPerson[], ownerOf: OwnerOf): number[] {
  return [...new Set(people.map((person) => ownerOf(person).user_id))];
}

/** Names the author of a text that belongs to the account of several people. Source: reference identity-and-import 6.7. */
function attributed(text: string, author: UpstreamPerson, ownerOf: OwnerOf): string {
  if (!ownerOf(author).is_shared) return text;
  return `*Created by: ${author.username.replace(/[^\w.-]/g, '')}*\n\n${text}`.trimEnd();
}
