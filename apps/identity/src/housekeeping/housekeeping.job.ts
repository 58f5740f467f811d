import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { Logger, SettingsOf } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { CompactionJob } from '../directory/compaction.job';
import { identitySettings } from '../identity.config';
import { MembersService } from '../members/members.service';
import { RemovalService } from '../removal/removal.service';

/** Any number that only this job uses: one replica at a time. */
const LOCK = 7_316_420_003;
const BATCH = 500;

/**
 * Clears away what time has ended: memberships that ran out (they count no more since that day anyway) and groups and
 * projects whose deletion is due. Source: reference identity-and-import 2.6, 2.8; ADR 0062.
 */
@Injectable()
export class HousekeepingJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly work: Work,
    private readonly members: MembersService,
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
      await this.endExpired(tx);
      // Groups first: what lies in them goes with them.
      for (const kind of ['group', 'project'] as const) {
        const [id] = await this.removal.due(tx, kind);
        if (id !== undefined) await this.removal.remove(tx, kind, id, null);
      }
    });
    await this.compaction.run();
  }

  private async endExpired(tx: Tx): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `select id from members where expires_on <= (now() at time zone 'UTC')::date order by expires_on limit ${BATCH}
       for update skip locked`,
    );
    await this.members.end(
      tx,
      rows.map((row) => row.id),
      'expired',
      null,
    );
  }
}
