import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { MergeRequestVersions } from './versions/merge-request-versions';

/** Background work on merge requests. Source: reference repositories 8.5. */
@Injectable()
export class MergeRequestsJob {
  constructor(private readonly versions: MergeRequestVersions) {}

  /** Updates refs of heads whose process died between the version and the ref. Returns their number. */
  @Job('publish-merge-request-heads', { cron: '* * * * *' })
  publishHeads(run?: Interruptible): Promise<number> {
    return this.versions.publishLeft(run?.signal);
  }
}
