import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';

/** Tells the copies that a person changed, and gateways to forget what they hold of his tokens. */
@Injectable()
export class HolderLog {
  constructor(private readonly log: ChangeLog) {}

  async record(tx: Tx, userId: number): Promise<void> {
    this.log.record(tx, 'user', userId);
    const tokens = await tx.query<{ id: number }>(`select id from access_tokens where user_id = $1 and not revoked`, [
      userId,
    ]);
    this.log.recordToken(tx, ...tokens.map((token) => token.id));
  }
}
