import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Command } from '@rookery/platform';
import { scopesFor } from '../tokens/token-terms';
import { FixedTokens } from './fixed-tokens';

/** One line of the input. Shape: `scopes` left out: the whole API. */
export interface SeededToken {
  readonly username: string;
  readonly token: string;
  readonly scopes?: readonly string[];
}

const TOKEN_NAME = 'seed';
const FORM = /^[\w.-]{20,128}$/;

/** Gives people the tokens that a seed file names. May be run again: what is there already stays. */
@Injectable()
export class FixedTokensCommand {
  constructor(
    private readonly work: Work,
    private readonly fixed: FixedTokens,
  ) {}

  /** All of them or none. Errors: a plain Error that names the person and never the token. */
  async run(seeded: readonly SeededToken[]): Promise<void> {
    await this.work.run(async (tx) => {
      for (const { username, token, scopes = ['api'] } of seeded) {
        const called = `the token of ${username}`;
        if (!FORM.test(token))
          throw new Error(`${called} has not 20 to 128 letters, digits, dots, dashes and underscores`);
        const [user] = await tx.query<{ id: number; admin: boolean }>(
          `select id, admin from users where username = $1 and kind = 'human' for no key update`,
          [username],
        );
        if (!user) throw new Error(`there is no person ${username}`);
        const foreign = scopes.find((scope) => !scopesFor(user).includes(scope));
        if (foreign !== undefined) throw new Error(`${called} cannot have the scope ${foreign}`);
        await this.fixed.give(tx, { userId: user.id, name: TOKEN_NAME, secret: token, scopes, called });
      }
    });
  }
}

/** `node dist/main.js fixed-tokens < tokens.json`: by the standard input, since others can read what a process is started with. */
export const fixedTokensCommand: Command = {
  about: 'Gives people tokens that are chosen beforehand: JSON [{ username, token, scopes }] on standard input.',
  async run(_args, context) {
    const seeded = JSON.parse(await text(process.stdin)) as SeededToken[];
    await (await context.application()).get(FixedTokensCommand).run(seeded);
  },
};
