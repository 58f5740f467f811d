import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import { IssueCountsService } from './issue-counts.service';

/** Counts issues of projects that had issues before counting began. Source: ADR 0110. */
@Injectable()
export class UncountedIssuesJob {
  constructor(
    private readonly work: Work,
    private readonly counts: IssueCountsService,
  ) {}

  @Job('count-uncounted-issues', { cron: '*/5 * * * *' })
  async run(run?: Interruptible): Promise<void> {
    for (let isDone = false; !isDone;) {
      run?.signal.throwIfAborted();
      isDone = await this.work.run((tx) => this.counts.countNew(tx));
    }
  }
}
