import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { AccessTokensService } from '../tokens/access-tokens.service';
import { TokenRows } from '../tokens/token-rows';
import { digestTokenSecret } from '../tokens/token-terms';

export interface FixedToken {
  readonly userId: number;
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  /** Name of the token in messages, which must not contain the secret. */
  readonly called: string;
}

/** Tokens with a secret chosen by an operator. They do not expire. */
@Injectable()
export class FixedTokens {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly rows: TokenRows,
  ) {}

  /**
   * Stores a token, if it is not there already. A former token of the same name is revoked. Errors: a plain Error for a
   * token that belongs to another user or was revoked.
   */
  async ensureToken(tx: Tx, { userId, name, secret, scopes, called }: FixedToken): Promise<void> {
    const [known] = await tx.query<{ user_id: number; revoked: boolean }>(
      `select user_id, revoked from access_tokens where digest = $1`,
      [digestTokenSecret(secret)],
    );
    if (known && known.user_id !== userId) throw new Error(`${called} is a token of another user`);
    if (known?.revoked) throw new Error(`${called} was revoked; choose another token`);
    if (known) return;
    await this.tokens.revokeNamed(tx, userId, name);
    const token = { userId, name, scopes, impersonation: false, createdBy: null };
    await this.rows.insertToken(tx, token, null, null, secret);
  }
}
