import { Inject, Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { Command, SettingsOf } from '@rookery/platform';
import { AccessTokensService } from '../tokens/access-tokens.service';
import { TokenRows } from '../tokens/token-rows';
import { scopesFor, digestOf } from '../tokens/token-terms';
import { UsersService } from '../users/users.service';
import { bootstrapSettings } from './bootstrap.config';

const ROOT_ID = 1;
const TOKEN_NAME = 'bootstrap';

/** Makes the first administrator and their token. May be run at every start: what is there already stays. */
@Injectable()
export class BootstrapCommand {
  constructor(
    private readonly work: Work,
    private readonly users: UsersService,
    private readonly tokens: AccessTokensService,
    private readonly rows: TokenRows,
    @Inject(bootstrapSettings.token) private readonly settings: SettingsOf<typeof bootstrapSettings>,
  ) {}

  /** Errors: a plain Error when no token is given, or when the token belongs to somebody else. */
  async run(): Promise<void> {
    const secret = this.settings.rootToken;
    if (!secret) throw new Error('ROOKERY_ROOT_TOKEN is missing: the token of the administrator `root`');
    await this.work.run(async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(7316420002)`);
      const [root] = await tx.query(`select id from users where id = $1`, [ROOT_ID]);
      if (!root) await this.insertRoot(tx);
      await this.giveToken(tx, secret);
    });
  }

  private async insertRoot(tx: Tx): Promise<void> {
    const person = {
      id: ROOT_ID,
      username: 'root',
      name: 'Administrator',
      email: this.settings.rootEmail,
      admin: true,
    };
    await this.users.insert(tx, person, { digest: null, createdBy: null });
  }

  /** A token that changed takes the place of the former one, which is revoked. */
  private async giveToken(tx: Tx, secret: string): Promise<void> {
    const [known] = await tx.query<{ user_id: number; revoked: boolean; name: string }>(
      `select user_id, revoked, name from access_tokens where digest = $1`,
      [digestOf(secret)],
    );
    if (known && known.user_id !== ROOT_ID) throw new Error('ROOKERY_ROOT_TOKEN is a token of another user');
    if (known?.revoked) throw new Error('ROOKERY_ROOT_TOKEN was revoked; give another');
    if (known) return;
    await this.tokens.revokeNamed(tx, ROOT_ID, TOKEN_NAME);
    const scopes = scopesFor({ admin: true });
    const token = { userId: ROOT_ID, name: TOKEN_NAME, scopes, impersonation: false, createdBy: null };
    await this.rows.insert(tx, token, null, null, secret);
  }
}

/** `node dist/main.js bootstrap` */
export const bootstrapCommand: Command = {
  about: 'Makes the administrator `root` (id 1) with ROOKERY_ROOT_TOKEN; idempotent.',
  async run(_args, context) {
    await (await context.application()).get(BootstrapCommand).run();
  },
};
