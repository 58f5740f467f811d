import { parseEvent, timelineEntriesOf, timelinePathOf } from '../../sources/remote/remote-events';
import {
  parseComment,
  commentsPathOf,
  isPullRequest,
  issueIn,
  parseLabel,
  mergedPathOf,
  parseMilestone,
  parsePullRequest,
} from '../../sources/remote/remote-objects';
import {
  isPublished,
  parseProtectedBranch,
  protectionPathOf,
  parseRelease,
} from '../../sources/remote/remote-releases';
import {
  hasContent,
  parseReviewComment,
  reviewCommentsPathOf,
  parseReview,
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
import { objectList } from './object-list';
import type { ObjectList } from './object-list';

const labels = objectList({
  ...labelForm,
  path: '/labels',
  read: parseLabel,
});

const milestones = objectList({
  ...milestoneForm,
  path: '/milestones?state=all',
  read: parseMilestone,
});

const releases = objectList({
  ...releaseForm,
  path: '/releases',
  includes: isPublished,
  read: parseRelease,
});

const issues = objectList({
  ...issueForm,
  path: '/issues?state=all&sort=created&direction=asc',
  includes: (item) => !isPullRequest(item),
  read: issueIn,
});

const pullRequests = objectList({
  ...pullRequestForm,
  path: '/pulls?state=all&sort=created&direction=asc',
  detailsOf: mergedPathOf,
  read: parsePullRequest,
});

const reviews = objectList({
  ...reviewForm,
  path: '/pulls?state=all&sort=created&direction=asc',
  membersOf: reviewsPathOf,
  includes: hasContent,
  read: parseReview,
});

const protectedBranches = objectList({
  ...protectedBranchForm,
  path: '/branches?protected=true',
  detailsOf: protectionPathOf,
  read: parseProtectedBranch,
});

/** The list of issues has pull requests, too. */
const events = objectList({
  ...eventForm,
  path: '/issues?state=all&sort=created&direction=asc',
  membersOf: timelinePathOf,
  partsOf: timelineEntriesOf,
  read: parseEvent,
});

/** Comments in one list of each kind. */
const COMMENT_LISTS = [
  objectList({ ...reviewCommentForm, path: '/pulls/comments?sort=created&direction=asc', read: parseReviewComment }),
  objectList({ ...commentForm, path: '/issues/comments?sort=created&direction=asc', read: parseComment }),
] as const;
/** Comments in a list of each pull request and issue. The list of issues has pull requests, too. */
const COMMENT_LISTS_OF_EACH = [
  objectList({
    ...reviewCommentForm,
    path: '/pulls?state=all&sort=created&direction=asc',
    membersOf: reviewCommentsPathOf,
    read: parseReviewComment,
  }),
  objectList({
    ...commentForm,
    path: '/issues?state=all&sort=created&direction=asc',
    membersOf: commentsPathOf,
    read: parseComment,
  }),
] as const;

/**
 * Returns the lists of the host, in the order of the stages. With `single_endpoint_notes`, comments are read for each
 * issue and pull request. Source: reference identity-and-import 6.6, 6.9.
 */
export function remoteLists({ single_endpoint_notes: isOfEach }: ListChoice): readonly ObjectList[] {
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
