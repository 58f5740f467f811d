import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { housekeepingCron, identitySettings } from '../../identity.config';
import { UserRemovalService } from './user-removal.service';

/** Bounds: bots read by one statement. */
const CHUNK = 1000;

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;

/** `$1`: id of the last bot read; `$2`: days of grace. A bot is over if none of its tokens was active within the grace. */
const BOTS = `
  select u.id, not exists (
    select 1 from access_tokens t where t.user_id = u.id
      and case t.resource_type
        when 'group' then exists (select 1 from namespaces n where n.id = t.resource_id)
        else exists (select 1 from projects p where p.id = t.resource_id) end
      and case when t.revoked then t.updated_at > statement_timestamp() - make_interval(days => $2::int)
        else t.expires_on is null or t.expires_on > ${TODAY} - $2::int end
  ) as is_over
  from users u where u.kind = 'project_bot' and u.id > $1 order by u.id limit ${CHUNK}`;

interface BotRow {
  readonly id: number;
  readonly is_over: boolean;
}

/**
 * Removes bots whose tokens ended before the grace period, and bots of removed groups and projects. The ghost user gets
 * their content. Source: reference identity-and-import 4.9.
 */
@Injectable()
export class EndedBotsRemovalJob {
  constructor(
    private readonly db: Database,
    private readonly removal: UserRemovalService,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  @Job('remove-ended-bots', { cron: housekeepingCron })
  async run(run?: Interruptible): Promise<void> {
    for (let lastId: number | null = 0; lastId !== null;) {
      const bots: BotRow[] = await this.db.query<BotRow>(BOTS, [lastId, this.settings.botRetentionDays]);
      for (const { id, is_over } of bots) {
        run?.signal.throwIfAborted();
        if (is_over) await this.tryRemoveBot(id);
      }
      lastId = bots.length < CHUNK ? null : bots.at(-1)!.id;
    }
  }

  /** Logs a failure instead of throwing, so that the other bots are still removed. */
  private async tryRemoveBot(botId: number): Promise<void> {
    try {
      await this.removal.remove(botId, { hardDelete: false, actorId: null });
    } catch (error) {
      this.logger.warn({ err: error, user_id: botId }, 'a bot could not be removed');
    }
  }
}
