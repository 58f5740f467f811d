import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { MembershipsService } from '../members/memberships.service';
import type { SourceIds } from '../members/memberships.service';
import { SharesService } from '../members/sharing/shares.service';
import { UserRows } from '../users/user-rows';

/** Ends the members, shares and bots of removed groups and projects. */
@Injectable()
export class RemovedGroupAndProjectCleanup {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly shares: SharesService,
    private readonly users: UserRows,
  ) {}

  /** Ends the members and shares. */
  async remove(tx: Tx, sources: SourceIds): Promise<void> {
    await this.memberships.deleteForSources(tx, sources);
    await this.shares.deleteForSources(tx, sources);
  }

  /**
   * Blocks the bots of their tokens; a job removes the bots later. Source: reference identity-and-import 4.9.
   */
  async blockBots(tx: Tx, sources: SourceIds): Promise<void> {
    const bots = await tx.query<{ user_id: number }>(
      `select distinct user_id from access_tokens where (resource_type = 'group' and resource_id = any($1))
         or (resource_type = 'project' and resource_id = any($2))`,
      [sources.namespaceIds, sources.projectIds],
    );
    await this.users.blockUsers(
      tx,
      bots.map((bot) => bot.user_id),
    );
  }
}
