import { Injectable } from '@nestjs/common';
import { Conflict } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { TreeRemovalService } from '../tree-removal.service';
import { UserRemovalService } from '../people/user-removal.service';
import { ServiceAccountsService } from '../../service-accounts/service-accounts.service';
import { AccessTokensService } from '../../tokens/access-tokens.service';

/** Removes service accounts with their group, in the same transaction. Source: reference identity-and-import 5. */
@Injectable()
export class GroupServiceAccountsRemoval {
  constructor(
    trees: TreeRemovalService,
    private readonly users: UserRemovalService,
    private readonly tokens: AccessTokensService,
    private readonly accounts: ServiceAccountsService,
  ) {
    trees.onGroupRemoval((tx, groupIds, actorId) => this.removeServiceAccounts(tx, groupIds, actorId));
  }

  private async removeServiceAccounts(tx: Tx, groupIds: readonly number[], actorId: number | null): Promise<void> {
    const accounts = await tx.query<{ user_id: number }>(
      `select user_id from service_accounts where group_id = any($1) order by user_id for update`,
      [groupIds],
    );
    for (const { user_id: id } of accounts) {
      try {
        await this.users.removeInTransaction(tx, id, { hardDelete: false, actorId });
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        await this.revokeTokensAndLeaveGroup(tx, id);
      }
    }
  }

  /** Keeps an account that is the only owner of another group, without tokens and without its group. */
  private async revokeTokensAndLeaveGroup(tx: Tx, id: number): Promise<void> {
    await this.tokens.revokeAllOf(tx, id);
    await this.accounts.leaveGroup(tx, id);
  }
}
