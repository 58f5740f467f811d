import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Logger, SettingsOf } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { CompactionJob } from '../directory/compaction.job';
import { identitySettings } from '../identity.config';
import { RemovalService } from '../removal/removal.service';
import { Expiry } from './expiry';

/** Any number that only this job uses: one replica at a time. */
const LOCK = 7_316_420_003;

/**
 * Clears away what time has ended: memberships and shares that ran out (they count no more since that day anyway) and groups and
 * projects whose deletion is due. Source: reference identity-and-import 2.6, 2.8; ADR 0062.
 */
@Injectable()
export class HousekeepingJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly work: Work,
    private readonly expiry: Expiry,
    private readonly removal: RemovalService,
    private readonly compaction: CompactionJob,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.run().catch((error: unknown) => this.logger.error({ err: error }, 'housekeeping failed'));
    }, this.settings.housekeepingMs);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async run(): Promise<void> {
    await this.work.run(async (tx) => {
      const [lock] = await tx.query<{ got: boolean }>(`select pg_try_advisory_xact_lock($1) as got`, [LOCK]);
      if (!lock?.got) return;
      await this.expiry.run(tx);
      // Groups first: what lies in them goes with them.
      for (const kind of ['group', 'project'] as const) {
        const [id] = await this.removal.due(tx, kind);
        if (id !== undefined) await this.removal.remove(tx, kind, id, null);
      }
    });
    await this.compaction.run();
  }
}
