import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';

/** Records changes of users in the directory change log, and makes gateways drop leases of their tokens. */
@Injectable()
export class UserChangeLog {
  constructor(private readonly log: ChangeLog) {}

  async recordUsers(tx: Tx, ...userIds: readonly number[]): Promise<void> {
    if (userIds.length === 0) return;
    this.log.recordChange(tx, 'user', ...userIds);
    const tokens = await tx.query<{ id: number }>(
      `select id from access_tokens where user_id = any($1) and not revoked`,
      [userIds],
    );
    this.log.recordToken(tx, ...tokens.map((token) => token.id));
  }
}
