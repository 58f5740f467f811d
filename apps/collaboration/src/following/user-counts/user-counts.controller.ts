import { Controller } from '@nestjs/common';
import { Endpoint, int, one, presenter, signedIn } from '@rookery/api-v4';
import type { Call, NoParams } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { UserCountsQueries } from './user-counts.queries';
import type { UserCounts } from './user-counts.queries';

/** Open work of a user. Counts of kinds that Rookery does not have yet are 0. Source: reference work-tracking 9.9. */
const userCounts = presenter<UserCounts>('UserCounts').fields({
  merge_requests: [int, (counts) => counts.assigned_merge_requests ?? 0],
  assigned_issues: [int, (counts) => counts.assigned_issues ?? 0],
  assigned_merge_requests: [int, (counts) => counts.assigned_merge_requests ?? 0],
  review_requested_merge_requests: [int, (counts) => counts.review_requested_merge_requests ?? 0],
  todos: [int, (counts) => counts.todos],
});

@Controller('user_counts')
export class UserCountsController {
  constructor(private readonly counts: UserCountsQueries) {}

  @Endpoint('GET', '', {
    about: "Counts the caller's open work: assigned issues and merge requests, reviews and to-dos.",
    source: 'reference work-tracking 9.9',
    may: signedIn(),
    answers: one(userCounts),
  })
  show({ viewer }: Call<NoParams, undefined, SignedInViewer>): Promise<UserCounts> {
    return this.counts.countOpenWork(viewer);
  }
}
