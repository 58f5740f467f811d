import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { housekeepingCron } from '../identity.config';
import { MembershipsService } from './memberships.service';
import { SharesService } from './sharing/shares.service';

/** Rows per transaction. */
const BATCH = 500;

/**
 * Deletes expired memberships and shares. They have had no effect since the day of expiry. Source: reference
 * identity-and-import 2.6, 2.8.
 */
@Injectable()
export class MembershipExpiryJob {
  constructor(
    private readonly work: Work,
    private readonly memberships: MembershipsService,
    private readonly shares: SharesService,
  ) {}

  @Job('expire-memberships', { cron: housekeepingCron })
  async run(run?: Interruptible): Promise<void> {
    const rounds = [(tx: Tx) => this.endExpiredMemberships(tx), (tx: Tx) => this.shares.endExpired(tx, BATCH)];
    for (const round of rounds) {
      while ((await this.work.run(round)) === BATCH) run?.signal.throwIfAborted();
    }
  }

  private async endExpiredMemberships(tx: Tx): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `select id from members where expires_on <= (now() at time zone 'UTC')::date order by expires_on limit ${BATCH}
       for update skip locked`,
    );
    const ids = rows.map((row) => row.id);
    await this.memberships.endMemberships(tx, ids, 'expired', null);
    return ids.length;
  }
}
