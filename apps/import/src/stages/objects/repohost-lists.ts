import { issueCommentIn, issueCommentsIn, issueCommentsPathOf, issueIn } from '../../sources/repohost/repohost-issues';
import {
  activityPathOf,
  parseGeneralComment,
  listGeneralComments,
  parseLineComment,
  listLineComments,
  pullRequestCommentsPathOf,
  parsePullRequest,
  pullRequestPathOf,
  parseReview,
  listReviews,
} from '../../sources/repohost/repohost-pulls';
import { commentForm, issueForm, pullRequestForm, reviewCommentForm, reviewForm } from './object-forms';
import { objectList } from './object-list';
import type { ObjectList } from './object-list';

const ISSUES = '/issues?sort=created_on';
/** Without a state, the service lists open pull requests alone. */
const PULL_REQUESTS = '/pullrequests?state=ALL&sort=created_on';
const comments = { path: PULL_REQUESTS, membersOf: pullRequestCommentsPathOf } as const;
const activity = { path: PULL_REQUESTS, membersOf: activityPathOf, areMembersNewestFirst: true } as const;

/** Lists of the repository service, in the order of the stages. Source: reference identity-and-import 6.11. */
export const repohostLists: readonly ObjectList[] = [
  objectList({ ...issueForm, path: ISSUES, read: issueIn }),
  objectList({ ...pullRequestForm, path: PULL_REQUESTS, detailsOf: pullRequestPathOf, read: parsePullRequest }),
  objectList({ ...reviewForm, ...activity, partsOf: listReviews, read: parseReview }),
  objectList({ ...reviewCommentForm, ...comments, partsOf: listLineComments, read: parseLineComment }),
  objectList({
    ...{ ...commentForm, stage: 'issue_note', path: ISSUES, membersOf: issueCommentsPathOf },
    ...{ partsOf: issueCommentsIn, read: issueCommentIn },
  }),
  objectList({ ...commentForm, ...comments, partsOf: listGeneralComments, read: parseGeneralComment }),
];
