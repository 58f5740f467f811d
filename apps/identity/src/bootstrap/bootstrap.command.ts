import { Inject, Injectable } from '@nestjs/common';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { Command, SettingsOf } from '@rookery/platform';
import { listAllowedTokenScopes } from '../tokens/token-terms';
import { UsersService } from '../users/users.service';
import { bootstrapSettings } from './bootstrap.config';
import { FixedTokens } from './fixed-tokens';

const ROOT_ID = 1;
const TOKEN_NAME = 'bootstrap';

/** Creates the first administrator with a token. Idempotent, so it may run at every start. */
@Injectable()
export class BootstrapCommand {
  constructor(
    private readonly work: Work,
    private readonly users: UsersService,
    private readonly fixed: FixedTokens,
    @Inject(bootstrapSettings.token) private readonly settings: SettingsOf<typeof bootstrapSettings>,
  ) {}

  /** Errors: a plain Error when no token is given, or when the token belongs to another user. */
  async run(): Promise<void> {
    const secret = this.settings.rootToken;
    if (!secret) throw new Error('ROOKERY_ROOT_TOKEN is missing: it sets the token of the administrator `root`');
    await this.work.run(async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(7316420002)`);
      const [root] = await tx.query(`select id from users where id = $1`, [ROOT_ID]);
      if (!root) await this.insertRoot(tx);
      const scopes = listAllowedTokenScopes({ admin: true });
      await this.fixed.ensureToken(tx, {
        userId: ROOT_ID,
        name: TOKEN_NAME,
        secret,
        scopes,
        called: 'ROOKERY_ROOT_TOKEN',
      });
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
    await this.users.insertUser(tx, person, { digest: null, createdBy: null });
  }
}

/** `node dist/main.js bootstrap` */
export const bootstrapCommand: Command = {
  about: 'Creates the administrator `root` (id 1) with ROOKERY_ROOT_TOKEN; idempotent.',
  async run(_args, context) {
    await (await context.application()).get(BootstrapCommand).run();
  },
};
