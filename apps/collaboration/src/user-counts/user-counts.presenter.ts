import { int, presenter } from '@rookery/api-v4';
import type { UserCounts } from './user-counts.queries';

// Nobody is asked to merge or to review anything before there are merge requests.
const none = (): number => 0;

/** Source: issue identity 6; ADR 0139. */
export const userCounts = presenter<UserCounts>('UserCounts').fields({
  merge_requests: [int, none],
  assigned_issues: [int, (counts) => counts.assigned_issues],
  assigned_merge_requests: [int, none],
  review_requested_merge_requests: [int, none],
  todos: [int, (counts) => counts.todos],
});
