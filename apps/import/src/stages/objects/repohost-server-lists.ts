import {
  activitiesPathOf,
  parseRepohostServerComment,
  listRepohostServerGeneralComments,
  parseRepohostServerLineComment,
  listRepohostServerLineComments,
  mergedPullRequestActivitiesPathOf,
  parseRepohostServerPullRequest,
  parseRepohostServerReview,
  listRepohostServerReviews,
} from '../../sources/repohost-server/repohost-server-pulls';
import { commentForm, pullRequestForm, reviewCommentForm, reviewForm } from './object-forms';
import { defineObjectList } from './object-list';
import type { ObjectList } from './object-list';

/** Without a state, servers list open pull requests alone. */
const PULL_REQUESTS = '/pull-requests?state=ALL&order=OLDEST';
/** Reviews and comments are activities of pull requests. */
const activities = { path: PULL_REQUESTS, membersOf: activitiesPathOf, areMembersNewestFirst: true } as const;

/** Lists of a repository server, in the order of the stages. Source: reference identity-and-import 6.10. */
export const repohostServerLists: readonly ObjectList[] = [
  defineObjectList({
    ...pullRequestForm,
    path: PULL_REQUESTS,
    detailsOf: mergedPullRequestActivitiesPathOf,
    read: parseRepohostServerPullRequest,
  }),
  defineObjectList({
    ...reviewForm,
    ...activities,
    partsOf: listRepohostServerReviews,
    read: parseRepohostServerReview,
  }),
  defineObjectList({
    ...reviewCommentForm,
    ...activities,
    partsOf: listRepohostServerLineComments,
    read: parseRepohostServerLineComment,
  }),
  defineObjectList({
    ...commentForm,
    ...activities,
    partsOf: listRepohostServerGeneralComments,
    read: parseRepohostServerComment,
  }),
];
