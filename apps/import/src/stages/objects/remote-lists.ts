import { eventIn, timelineEntriesOf, timelinePathOf } from '../../sources/remote/remote-events';
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
import { isPublished, protectedBranchIn, protectionPathOf, releaseIn } from '../../sources/remote/remote-releases';
import {
  hasContent,
  reviewCommentIn,
  reviewCommentsPathOf,
  reviewIn,
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
  read: labelIn,
});

const milestones = objectList({
  ...milestoneForm,
  path: '/milestones?state=all',
  read: milestoneIn,
});

const releases = objectList({
  ...releaseForm,
  path: '/releases',
  includes: isPublished,
  read: releaseIn,
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
  read: pullRequestIn,
});

const reviews = objectList({
  ...reviewForm,
  path: '/pulls?state=all&sort=created&direction=asc',
  membersOf: reviewsPathOf,
  includes: hasContent,
  read: reviewIn,
});

const protectedBranches = objectList({
  ...protectedBranchForm,
  path: '/branches?protected=true',
  detailsOf: protectionPathOf,
  read: protectedBranchIn,
});

/** The list of issues has pull requests, too. */
const events = objectList({
  ...eventForm,
  path: '/issues?state=all&sort=created&direction=asc',
  membersOf: timelinePathOf,
  partsOf: timelineEntriesOf,
  read: eventIn,
});

/** Comments in one list of each kind. */
const COMMENT_LISTS = [
  objectList({ ...reviewCommentForm, path: '/pulls/comments?sort=created&direction=asc', read: reviewCommentIn }),
  objectList({ ...commentForm, path: '/issues/comments?sort=created&direction=asc', read: commentIn }),
] as const;
/** Comments in a list of each pull request and issue. The list of issues has pull requests, too. */
const COMMENT_LISTS_OF_EACH = [
  objectList({
    ...reviewCommentForm,
    path: '/pulls?state=all&sort=created&direction=asc',
    membersOf: reviewCommentsPathOf,
    read: reviewCommentIn,
  }),
  objectList({
    ...commentForm,
    path: '/issues?state=all&sort=created&direction=asc',
    membersOf: commentsPathOf,
    read: commentIn,
  }),
] as const;

/**
 * Returns the lists of the host, in the order of the stages. Shape: with `single_endpoint_notes`, comments are read for each
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
