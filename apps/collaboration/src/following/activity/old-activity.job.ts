import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { deleteExpiredRows } from '../../base/noteables/expired-rows';
import { activitySettings } from './activity.config';
import type { ActivitySettings } from './activity.config';
import { oldActivity } from './activity-recorder';

/** Deletes entries of feeds older than the retention time. Source: reference work-tracking 7.8; ADR 0080. */
@Injectable()
export class OldActivityJob {
  constructor(
    private readonly database: Database,
    @Inject(activitySettings.token) private readonly settings: ActivitySettings,
  ) {}

  /** Returns the number of deleted rows. */
  @Job('drop-old-activity', { cron: '23 */6 * * *' })
  async run(run?: Interruptible): Promise<number> {
    return deleteExpiredRows(this.database, [oldActivity], this.settings.retentionDays, run?.signal);
  }
}
