import { Injectable } from '@nestjs/common';
import { Conflict } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { RemovalService } from '../removal/removal.service';
import { UserRemoval } from '../user-removal/user-removal.service';
import { HolderLog } from '../user-states/holder-log';

/** Service accounts go with their group, in the same transaction. Source: ADR 0130. */
@Injectable()
export class AccountsOfRemovedGroups {
  constructor(
    removal: RemovalService,
    private readonly users: UserRemoval,
    private readonly holders: HolderLog,
  ) {
    removal.alsoRemoves((tx, groupIds, actorId) => this.remove(tx, groupIds, actorId));
  }

  private async remove(tx: Tx, groupIds: readonly number[], actorId: number | null): Promise<void> {
    const accounts = await tx.query<{ user_id: number }>(
      `select user_id from service_accounts where group_id = any($1) order by user_id for update`,
      [groupIds],
    );
    for (const { user_id: id } of accounts) {
      try {
        await this.users.removeIn(tx, id, { hardDelete: false, actorId });
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        await this.leaveToAdministrators(tx, id);
      }
    }
  }

  /** A group elsewhere would be without any owner: the account stays, unable to do anything. */
  private async leaveToAdministrators(tx: Tx, id: number): Promise<void> {
    await this.holders.record(tx, id);
    await tx.query(`update access_tokens set revoked = true, updated_at = now() where user_id = $1 and not revoked`, [
      id,
    ]);
    await tx.query(`update service_accounts set group_id = null where user_id = $1`, [id]);
  }
}
