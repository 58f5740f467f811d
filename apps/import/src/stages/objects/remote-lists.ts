import { parseEvent, listTimelineEntries, timelinePathOf } from '../../sources/remote/remote-events';
import {
  parseRemoteComment,
  commentsPathOf,
  isPullRequest,
  parseRemoteIssue,
  parseLabel,
  mergedPullRequestPathOf,
  parseMilestone,
  parseRemotePullRequest,
} from '../../sources/remote/remote-objects';
import {
  isPublished,
  parseProtectedBranch,
  protectionPathOf,
  parseRelease,
} from '../../sources/remote/remote-releases';
import {
  isImportableReview,
  parseReviewComment,
  reviewCommentsPathOf,
  parseRemoteReview,
  reviewsPathOf,
} from '../../sources/remote/remote-reviews';
import type { ListChoice } from './import-lists';
import {
  commentForm,
  eventForm,
  issueForm,
  labelForm,
  milestoneForm,
  protectedBranchForm,
  pullRequestForm,
  releaseForm,
  reviewCommentForm,
  reviewForm,
} from './object-forms';
import { defineObjectList } from './object-list';
import type { ObjectList } from './object-list';

const labels = defineObjectList({
  ...labelForm,
  path: '/labels',
  read: parseLabel,
});

const milestones = defineObjectList({
  ...milestoneForm,
  path: '/milestones?state=all',
  read: parseMilestone,
});

const releases = defineObjectList({
  ...releaseForm,
  path: '/releases',
  includes: isPublished,
  read: parseRelease,
});

const issues = defineObjectList({
  ...issueForm,
  path: '/issues?state=all&sort=created&direction=asc',
  includes: (item) => !isPullRequest(item),
  read: parseRemoteIssue,
});

const pullRequests = defineObjectList({
  ...pullRequestForm,
  path: '/pulls?state=all&sort=created&direction=asc',
  detailsOf: mergedPullRequestPathOf,
  read: parseRemotePullRequest,
});

const reviews = defineObjectList({
  ...reviewForm,
  path: '/pulls?state=all&sort=created&direction=asc',
  membersOf: reviewsPathOf,
  includes: isImportableReview,
  read: parseRemoteReview,
});

const protectedBranches = defineObjectList({
  ...protectedBranchForm,
  path: '/branches?protected=true',
  detailsOf: protectionPathOf,
  read: parseProtectedBranch,
});

/** The list of issues has pull requests, too. */
const events = defineObjectList({
  ...eventForm,
  path: '/issues?state=all&sort=created&direction=asc',
  membersOf: timelinePathOf,
  partsOf: listTimelineEntries,
  read: parseEvent,
});

/** Comments in one list of each kind. */
const COMMENT_LISTS = [
  defineObjectList({
    ...reviewCommentForm,
    path: '/pulls/comments?sort=created&direction=asc',
    read: parseReviewComment,
  }),
  defineObjectList({ ...commentForm, path: '/issues/comments?sort=created&direction=asc', read: parseRemoteComment }),
] as const;
/** Comments in a list of each pull request and issue. The list of issues has pull requests, too. */
const COMMENT_LISTS_OF_EACH = [
  defineObjectList({
    ...reviewCommentForm,
    path: '/pulls?state=all&sort=created&direction=asc',
    membersOf: reviewCommentsPathOf,
    read: parseReviewComment,
  }),
  defineObjectList({
    ...commentForm,
    path: '/issues?state=all&sort=created&direction=asc',
    membersOf: commentsPathOf,
    read: parseRemoteComment,
  }),
] as const;

/**
 * Returns the lists of the host, in the order of the stages. With `single_endpoint_notes`, comments are read for each
 * issue and pull request. Source: reference identity-and-import 6.6, 6.9.
 */
export function chooseRemoteImportLists({ single_endpoint_notes: isOfEach }: ListChoice): readonly ObjectList[] {
  const [lineComments, comments] = isOfEach ? COMMENT_LISTS_OF_EACH : COMMENT_LISTS;
  return [
    labels,
    milestones,
    releases,
    issues,
    pullRequests,
    reviews,
    lineComments,
    events,
    comments,
    protectedBranches,
  ];
}
