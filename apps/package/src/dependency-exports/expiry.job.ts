import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import { DependencyExportsQueries } from './dependency-exports.queries';

/** Deletes expired exports, and fails those that take too long. Source: reference packages-and-admin 6.1. */
@Injectable()
export class ExpireDependencyExportsJob {
  constructor(
    private readonly work: Work,
    private readonly exports: DependencyExportsQueries,
  ) {}

  @Job('expire-dependency-exports', { cron: '17 * * * *' })
  async expire({ signal }: Interruptible): Promise<void> {
    while (await this.work.run((tx) => this.exports.failOverdue(tx))) signal.throwIfAborted();
    while (await this.work.run((tx) => this.exports.removeExpired(tx))) signal.throwIfAborted();
  }
}
