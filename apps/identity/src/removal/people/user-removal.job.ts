import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { finishUserRemoval, UserRemovalService } from './user-removal.service';

/** Finishes a long removal of a user. Source: ADR 0136. */
@Injectable()
export class UserRemovalJob {
  constructor(private readonly removal: UserRemovalService) {}

  @Job(finishUserRemoval)
  async run({ params, signal }: JobRun<typeof finishUserRemoval>): Promise<void> {
    await this.removal.continueRemovals(params.user_id, signal);
  }
}
