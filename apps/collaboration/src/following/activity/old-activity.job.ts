import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Ending } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { dropOldest } from '../../base/noteables/oldest-rows';
import { activitySettings } from './activity.config';
import type { ActivitySettings } from './activity.config';
import { oldActivity } from './record-activity';

/** Drops entries of feeds that are kept for a time only. Source: reference work-tracking 7.8; ADR 0080. */
@Injectable()
export class OldActivityJob {
  constructor(
    private readonly database: Database,
    @Inject(activitySettings.token) private readonly settings: ActivitySettings,
  ) {}

  /** Answers how many went. */
  @Job('drop-old-activity', { cron: '23 */6 * * *' })
  async run(run?: Ending): Promise<number> {
    return dropOldest(this.database, [oldActivity], this.settings.retentionDays, run?.signal);
  }
}
