import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { AccessTokensService } from '../tokens/access-tokens.service';
import { TokenRows } from '../tokens/token-rows';
import { digestOf } from '../tokens/token-terms';

export interface FixedToken {
  readonly userId: number;
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  /** What messages call it, since they must not show it. */
  readonly called: string;
}

/** Tokens whose text an operator chose; they have no end. */
@Injectable()
export class FixedTokens {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly rows: TokenRows,
  ) {}

  /**
   * One that is there already stays; another of the same name takes the place of the former, which is revoked.
   * Errors: a plain Error for a token that belongs to somebody else or was revoked.
   */
  async give(tx: Tx, { userId, name, secret, scopes, called }: FixedToken): Promise<void> {
    const [known] = await tx.query<{ user_id: number; revoked: boolean }>(
      `select user_id, revoked from access_tokens where digest = $1`,
      [digestOf(secret)],
    );
    if (known && known.user_id !== userId) throw new Error(`${called} is a token of another user`);
    if (known?.revoked) throw new Error(`${called} was revoked; give another`);
    if (known) return;
    await this.tokens.revokeNamed(tx, userId, name);
    const token = { userId, name, scopes, impersonation: false, createdBy: null };
    await this.rows.insert(tx, token, null, null, secret);
  }
}
