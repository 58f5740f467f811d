import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { MembersService } from '../members/members.service';
import { SharesService } from '../shares/shares.service';

/** Rows of each kind in one round. */
const BATCH = 500;

/** Clears away memberships and shares that ran out. Source: reference identity-and-import 2.8; ADR 0062, 0105. */
@Injectable()
export class Expiry {
  constructor(
    private readonly members: MembersService,
    private readonly shares: SharesService,
  ) {}

  async run(tx: Tx): Promise<void> {
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
    await this.shares.endExpired(tx, BATCH);
  }
}
