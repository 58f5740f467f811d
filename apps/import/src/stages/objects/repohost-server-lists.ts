import {
  activitiesPathOf,
  parseComment,
  listGeneralComments,
  parseLineComment,
  listLineComments,
  mergedPathOf,
  parsePullRequest,
  parseReview,
  listReviews,
} from '../../sources/repohost-server/repohost-server-pulls';
import { commentForm, pullRequestForm, reviewCommentForm, reviewForm } from './object-forms';
import { objectList } from './object-list';
import type { ObjectList } from './object-list';

/** Without a state, servers list open pull requests alone. */
const PULL_REQUESTS = '/pull-requests?state=ALL&order=OLDEST';
/** Reviews and comments are activities of pull requests. */
const activities = { path: PULL_REQUESTS, membersOf: activitiesPathOf, areMembersNewestFirst: true } as const;

/** Lists of a repository server, in the order of the stages. Source: reference identity-and-import 6.10. */
export const repohostServerLists: readonly ObjectList[] = [
  objectList({ ...pullRequestForm, path: PULL_REQUESTS, detailsOf: mergedPathOf, read: parsePullRequest }),
  objectList({ ...reviewForm, ...activities, partsOf: listReviews, read: parseReview }),
  objectList({ ...reviewCommentForm, ...activities, partsOf: listLineComments, read: parseLineComment }),
  objectList({ ...commentForm, ...activities, partsOf: listGeneralComments, read: parseComment }),
];
