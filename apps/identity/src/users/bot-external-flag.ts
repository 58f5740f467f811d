import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { UserChangeLog } from './user-change-log';

/** Kinds of users that act on behalf of others. */
export const BOTS = `('project_bot', 'service_account')`;
/**
 * SQL: bots for which the users $1 are responsible: they created the bot, or issued one of its tokens that meets the
 * condition.
 */
const botIdsOfResponsibleUsersSql = (
  tokenCondition: string,
): string => `select b.id from users b where b.created_by_id = any($1) and b.kind in ${BOTS}
   union
   select t.user_id from access_tokens t where t.created_by_id = any($1) and ${tokenCondition}`;
/** Boolean SQL: another user who is responsible for the bot `b` is external. */
const IS_EXTERNAL_BY_OTHERS = `(exists (select 1 from users m where m.id = b.created_by_id and m.external)
   or exists (select 1 from access_tokens t join users i on i.id = t.created_by_id
     where t.user_id = b.id and i.id <> b.id and not t.revoked and i.external))`;
/** SQL: the start of a condition on bots to update. The caller adds conditions on `b`, a lock and the parenthesis. */
const unclosedWhereBotInSql = (botIdsSql: string): string =>
  `where id in (select b.id from users b where b.id in (${botIdsSql}) and b.kind in ${BOTS}`;

/** Makes bots external. A user is responsible for a bot through tokens that are not revoked. */
const BIND = `update users set external = true, updated_at = now()
  ${unclosedWhereBotInSql(botIdsOfResponsibleUsersSql('not t.revoked'))} and not b.external order by b.id for no key update) returning id`;
/**
 * Makes bots internal again. Revoked tokens count here too: an external user who rotated a token may be the reason,
 * even if the token was replaced since.
 */
const RELEASE = `update users set external = false, updated_at = now()
  ${unclosedWhereBotInSql(botIdsOfResponsibleUsersSql('true'))} and b.external and not ${IS_EXTERNAL_BY_OTHERS} order by b.id for no key update) returning id`;

/**
 * A bot may do at most what its responsible users may: the one who created it, and those who issued its tokens.
 * Otherwise external users could use it to read what they may not see. Source: reference identity-and-import 4.9, 5.
 */
@Injectable()
export class BotExternalFlagService {
  constructor(private readonly changes: UserChangeLog) {}

  /** Updates the bot after a token of it was issued, because the issuer saw the secret. */
  async updateBot(tx: Tx, holderId: number, issuerId: number | null): Promise<void> {
    if (issuerId === null || issuerId === holderId) return;
    const bots = await tx.query(`select 1 from users where id = $1 and kind in ${BOTS}`, [holderId]);
    if (bots.length === 0 || !(await isExternal(tx, issuerId))) return;
    await this.propagateExternal(tx, issuerId, true);
  }

  /**
   * Propagates a change of a user's `external` flag to the bots that the user is responsible for, and recursively to
   * theirs.
   */
  async propagateExternal(tx: Tx, userId: number, isExternal: boolean): Promise<void> {
    const changed = new Set<number>();
    for (let from = [userId]; from.length > 0;) {
      const rows = await tx.query<{ id: number }>(isExternal ? BIND : RELEASE, [from]);
      from = rows.map((row) => row.id);
      for (const id of from) changed.add(id);
    }
    await this.changes.recordUsers(tx, ...changed);
  }

  /** Whether the bot is external because a responsible user is. */
  async isExternalByOthers(tx: Tx, botId: number): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from users b where b.id = $1 and b.kind in ${BOTS} and ${IS_EXTERNAL_BY_OTHERS}`,
      [botId],
    );
    return rows.length > 0;
  }
}

/**
 * Whether a user is external; false for null and for a missing user. Locks the row, so that the answer holds until the end
 * of the transaction.
 */
export async function isExternal(tx: Tx, userId: number | null): Promise<boolean> {
  const [user] = await tx.query<{ external: boolean }>(`select external from users where id = $1 for share`, [userId]);
  return user?.external ?? false;
}
