import { Controller } from '@nestjs/common';
import { Endpoint, one, signedIn } from '@rookery/api-v4';
import type { Call, NoParams } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { userCounts } from './user-counts.presenter';
import { UserCountsQueries } from './user-counts.queries';
import type { UserCounts } from './user-counts.queries';

@Controller('user_counts')
export class UserCountsController {
  constructor(private readonly counts: UserCountsQueries) {}

  @Endpoint('GET', '', {
    about: 'How much waits for the caller: open issues, merge requests, reviews and to-dos.',
    source: 'issue identity 6',
    may: signedIn(),
    answers: one(userCounts),
  })
  show({ viewer }: Call<NoParams, undefined, SignedInViewer>): Promise<UserCounts> {
    return this.counts.of(viewer);
  }
}
