import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Command } from '@rookery/platform';
import { listAllowedTokenScopes } from '../tokens/token-terms';
import { FixedTokens } from './fixed-tokens';

/** One token of the input. Omitted `scopes` mean `api`. */
export interface SeededToken {
  readonly username: string;
  readonly token: string;
  readonly scopes?: readonly string[];
}

const TOKEN_NAME = 'seed';
const FORM = /^[\w.-]{20,128}$/;

/** Gives users the tokens of a seed file. Idempotent. */
@Injectable()
export class FixedTokensCommand {
  constructor(
    private readonly work: Work,
    private readonly fixed: FixedTokens,
  ) {}

  /** Stores all tokens or none. Errors: a plain Error that names the user and never the token. */
  async run(seeded: readonly SeededToken[]): Promise<void> {
    await this.work.run(async (tx) => {
      for (const { username, token, scopes = ['api'] } of seeded) {
        const called = `the token of ${username}`;
        if (!FORM.test(token))
          throw new Error(`${called} needs 20 to 128 letters, digits, dots, dashes and underscores`);
        const [user] = await tx.query<{ id: number; admin: boolean }>(
          `select id, admin from users where username = $1 and kind = 'human' for no key update`,
          [username],
        );
        if (!user) throw new Error(`user ${username} does not exist`);
        const foreign = scopes.find((scope) => !listAllowedTokenScopes(user).includes(scope));
        if (foreign !== undefined) throw new Error(`${called} cannot have the scope ${foreign}`);
        await this.fixed.ensureToken(tx, { userId: user.id, name: TOKEN_NAME, secret: token, scopes, called });
      }
    });
  }
}

/**
 * `node dist/main.js fixed-tokens < tokens.json`. Tokens are read from standard input, because other users of the
 * machine can read the arguments of a process.
 */
export const fixedTokensCommand: Command = {
  about: 'Gives users predefined tokens: JSON [{ username, token, scopes }] on standard input.',
  async run(_args, context) {
    const seeded = JSON.parse(await text(process.stdin)) as SeededToken[];
    await (await context.application()).get(FixedTokensCommand).run(seeded);
  },
};
