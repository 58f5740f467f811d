import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { UserRemoval } from '../user-removal/user-removal.service';

/** Bounds: bots looked at in one round; the next round goes on behind them. */
const ROUND = 1000;

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;

/** $1 the bot to begin behind, $2 days of grace. A bot is over when no token of it is in use, or was within the grace. */
const BOTS = `
  select u.id, not exists (
    select 1 from access_tokens t where t.user_id = u.id
      and case t.resource_type
        when 'group' then exists (select 1 from namespaces n where n.id = t.resource_id)
        else exists (select 1 from projects p where p.id = t.resource_id) end
      and case when t.revoked then t.updated_at > statement_timestamp() - make_interval(days => $2::int)
        else t.expires_on is null or t.expires_on > ${TODAY} - $2::int end
  ) as is_over
  from users u where u.kind = 'project_bot' and u.id > $1 order by u.id limit ${ROUND}`;

/**
 * Removes the bots of tokens that ended long enough ago, and of groups and projects that are gone. What they wrote
 * goes to the ghost user. Source: reference identity-and-import 4.9; ADR 0125.
 */
@Injectable()
export class EndedBots {
  private behind = 0;

  constructor(
    private readonly db: Database,
    private readonly removal: UserRemoval,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  async remove(): Promise<void> {
    const bots = await this.db.query<{ id: number; is_over: boolean }>(BOTS, [
      this.behind,
      this.settings.botRetentionDays,
    ]);
    this.behind = bots.length < ROUND ? 0 : bots.at(-1)!.id;
    for (const { id, is_over } of bots) if (is_over) await this.removeOne(id);
  }

  /** One that cannot be removed now does not keep the others. */
  private async removeOne(id: number): Promise<void> {
    try {
      await this.removal.remove(id, { hardDelete: false, actorId: null });
    } catch (error) {
      this.logger.warn({ err: error, user_id: id }, 'a bot could not be removed');
    }
  }
}
