import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { MembershipsService } from '../members/memberships.service';
import type { GoneSources } from '../members/memberships.service';
import { SharesService } from '../members/sharing/shares.service';
import { UserRows } from '../users/user-rows';

/** What ends with groups and projects that go. */
@Injectable()
export class Belongings {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly shares: SharesService,
    private readonly users: UserRows,
  ) {}

  /** Members and shares. */
  async remove(tx: Tx, gone: GoneSources): Promise<void> {
    await this.memberships.endWith(tx, gone);
    await this.shares.endWith(tx, gone);
  }

  /**
   * Bots of their tokens are refused from now on, and removed soon after.
   * Source: reference identity-and-import 4.9.
   */
  async endBots(tx: Tx, gone: GoneSources): Promise<void> {
    const bots = await tx.query<{ user_id: number }>(
      `select distinct user_id from access_tokens where (resource_type = 'group' and resource_id = any($1))
         or (resource_type = 'project' and resource_id = any($2))`,
      [gone.namespaceIds, gone.projectIds],
    );
    await this.users.block(
      tx,
      bots.map((bot) => bot.user_id),
    );
  }
}
