import { Inject, Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import { LOGGER, runDetached } from '@rookery/platform';
import { UserRows } from '../../users/user-rows';

/** Units: minutes between two records of a token's use. Source: reference identity-and-import 4.6. */
const USE_RECORD_MINUTES = 10;
/** Bounds: addresses stored per token. Source: reference identity-and-import 4.6. */
const IPS_SHOWN = 5;
/** Conditions on a token `t`, checked when the token is resolved and again when its use is written. Parameter: `:ip`. */
export const USE_IS_OUTDATED = `(t.last_used_at is null or t.last_used_at < statement_timestamp() - interval '${USE_RECORD_MINUTES} minutes')`;
export const ADDRESS_IS_NEW = `(not :ip::text = any(t.last_used_ips)
  and (t.ips_changed_at is null or t.ips_changed_at < statement_timestamp() - interval '1 minute'))`;

const RECORD_USE = statement<{ token: number; ip: string | null }, { user_id: number }>(
  'tokens-record-use',
  `update access_tokens t set
     last_used_at = case when ${USE_IS_OUTDATED} then now() else t.last_used_at end,
     last_used_ips = case when ${ADDRESS_IS_NEW} then (:ip || t.last_used_ips)[1:${IPS_SHOWN}] else t.last_used_ips end,
     ips_changed_at = case when ${ADDRESS_IS_NEW} then now() else t.ips_changed_at end
   where t.id = (select t.id from access_tokens t where t.id = :token and (${USE_IS_OUTDATED} or ${ADDRESS_IS_NEW})
     for no key update skip locked)
   returning t.user_id`,
);

/** Records when and from which address a token was used. */
@Injectable()
export class TokenUse {
  constructor(
    private readonly db: Database,
    private readonly users: UserRows,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Records the use without delaying the answer; `updated_at` does not change. A locked row is skipped: otherwise many
   * checks of a token that is being rotated would each wait with a connection.
   */
  recordUse(tokenId: number, ip: string | null): void {
    runDetached(() => this.writeUse(tokenId, ip)).catch((error: unknown) =>
      this.logger.warn({ err: error, token_id: tokenId }, 'the use of a token was not recorded'),
    );
  }

  private async writeUse(tokenId: number, ip: string | null): Promise<void> {
    const [used] = await this.db.run(RECORD_USE, { token: tokenId, ip });
    if (used) await this.users.recordActivity(this.db, used.user_id);
  }
}
