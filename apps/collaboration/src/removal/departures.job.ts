import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { UserRemovals, handOverReferences } from './user-removals';

/** Hands over or removes the person references of a removed user, round after round. Source: ADR 0136. */
@Injectable()
export class UserRemovalsJob {
  constructor(private readonly departures: UserRemovals) {}

  @Job(handOverReferences)
  async run({ params, signal }: JobRun<typeof handOverReferences>): Promise<void> {
    await this.departures.runOnce(params.user_id, signal);
  }
}
