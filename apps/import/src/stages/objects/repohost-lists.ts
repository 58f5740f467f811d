import {
  parseRepohostIssueComment,
  listRepohostIssueComments,
  issueCommentsPathOf,
  parseRepohostIssue,
} from '../../sources/repohost/repohost-issues';
import {
  activityPathOf,
  parseGeneralComment,
  listRepohostGeneralComments,
  parseRepohostLineComment,
  listRepohostLineComments,
  pullRequestCommentsPathOf,
  parseRepohostPullRequest,
  pullRequestPathOf,
  parseRepohostReview,
  listRepohostReviews,
} from '../../sources/repohost/repohost-pulls';
import { commentForm, issueForm, pullRequestForm, reviewCommentForm, reviewForm } from './object-forms';
import { defineObjectList } from './object-list';
import type { ObjectList } from './object-list';

const ISSUES = '/issues?sort=created_on';
/** Without a state, the service lists open pull requests alone. */
const PULL_REQUESTS = '/pullrequests?state=ALL&sort=created_on';
const comments = { path: PULL_REQUESTS, membersOf: pullRequestCommentsPathOf } as const;
const activity = { path: PULL_REQUESTS, membersOf: activityPathOf, areMembersNewestFirst: true } as const;

/** Lists of the repository service, in the order of the stages. Source: reference identity-and-import 6.11. */
export const repohostLists: readonly ObjectList[] = [
  defineObjectList({ ...issueForm, path: ISSUES, read: parseRepohostIssue }),
  defineObjectList({
    ...pullRequestForm,
    path: PULL_REQUESTS,
    detailsOf: pullRequestPathOf,
    read: parseRepohostPullRequest,
  }),
  defineObjectList({ ...reviewForm, ...activity, partsOf: listRepohostReviews, read: parseRepohostReview }),
  defineObjectList({
    ...reviewCommentForm,
    ...comments,
    partsOf: listRepohostLineComments,
    read: parseRepohostLineComment,
  }),
  defineObjectList({
    ...{ ...commentForm, stage: 'issue_note', path: ISSUES, membersOf: issueCommentsPathOf },
    ...{ partsOf: listRepohostIssueComments, read: parseRepohostIssueComment },
  }),
  defineObjectList({ ...commentForm, ...comments, partsOf: listRepohostGeneralComments, read: parseGeneralComment }),
];
