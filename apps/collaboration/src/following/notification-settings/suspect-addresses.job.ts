import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { deleteExpiredRows } from '../../base/noteables/expired-rows';
import { REFUSALS_KEPT_DAYS, oldSuspects } from './suspect-addresses';

/** Deletes rows of addresses whose refusals are forgotten. Source: docs/reference/work-tracking.md 8.5. */
@Injectable()
export class OldMailRefusalsJob {
  constructor(private readonly database: Database) {}

  /** Returns the number of deleted rows. */
  @Job('drop-old-suspect-addresses', { cron: '53 4 * * *' })
  async run(run?: Interruptible): Promise<number> {
    return deleteExpiredRows(this.database, [oldSuspects], REFUSALS_KEPT_DAYS, run?.signal);
  }
}
