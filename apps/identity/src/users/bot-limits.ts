import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { UserChangeLog } from './user-change-log';

/** Kinds of users who act for others. */
export const BOTS = `('project_bot', 'service_account')`;
/** Bots of people of $1: they made them, or gave out tokens of them of which `counts` says something. */
const botsOf = (
  counts: string,
): string => `select b.id from users b where b.created_by_id = any($1) and b.kind in ${BOTS}
   union
   select t.user_id from access_tokens t where t.created_by_id = any($1) and ${counts}`;
/** Whether anybody else who answers for the bot `b` is external. */
const IS_BOUND = `(exists (select 1 from users m where m.id = b.created_by_id and m.external)
   or exists (select 1 from access_tokens t join users i on i.id = t.created_by_id
     where t.user_id = b.id and i.id <> b.id and not t.revoked and i.external))`;
const locked = (bots: string): string =>
  `where id in (select b.id from users b where b.id in (${bots}) and b.kind in ${BOTS}`;

/** Those who answer for a bot bind it: their token was not revoked. */
const BIND = `update users set external = true, updated_at = now()
  ${locked(botsOf('not t.revoked'))} and not b.external order by b.id for no key update) returning id`;
/** Whoever was external at a rotation may be why the bot still is, also when their token was replaced since. */
const RELEASE = `update users set external = false, updated_at = now()
  ${locked(botsOf('true'))} and b.external and not ${IS_BOUND} order by b.id for no key update) returning id`;

/**
 * A bot is at most what those are who answer for it: whoever made it, and whoever gave out its tokens. Otherwise
 * external people would reach by it what they may not see. Source: reference identity-and-import 4.9, 5.
 */
@Injectable()
export class BotLimits {
  constructor(private readonly changes: UserChangeLog) {}

  /** A token was given out. When it is one of a bot, it knows who got to see the secret. */
  async issued(tx: Tx, holderId: number, issuerId: number | null): Promise<void> {
    if (issuerId === null || issuerId === holderId) return;
    const bots = await tx.query(`select 1 from users where id = $1 and kind in ${BOTS}`, [holderId]);
    if (bots.length === 0 || !(await isExternal(tx, issuerId))) return;
    await this.follow(tx, issuerId, true);
  }

  /** Somebody became external, or is it no more: so are the bots that they answer for, and the bots of those. */
  async follow(tx: Tx, userId: number, isExternal: boolean): Promise<void> {
    const changed = new Set<number>();
    for (let from = [userId]; from.length > 0;) {
      const rows = await tx.query<{ id: number }>(isExternal ? BIND : RELEASE, [from]);
      from = rows.map((row) => row.id);
      for (const id of from) changed.add(id);
    }
    await this.changes.record(tx, ...changed);
  }

  /** Whether the bot is external because of somebody who answers for it. */
  async isBound(tx: Tx, botId: number): Promise<boolean> {
    const rows = await tx.query(`select 1 from users b where b.id = $1 and b.kind in ${BOTS} and ${IS_BOUND}`, [botId]);
    return rows.length > 0;
  }
}

/** Whether somebody is external, which they stay or stay not until the end of the transaction. */
export async function isExternal(tx: Tx, userId: number | null): Promise<boolean> {
  const [user] = await tx.query<{ external: boolean }>(`select external from users where id = $1 for share`, [userId]);
  return user?.external ?? false;
}
