import { Unavailable } from '@rookery/kernel';
import type { Rights } from '@rookery/platform';
import { sqlStateOf, wasRolledBack } from '../sql/failures';
import type { Statement } from '../sql/prepared';

/**
 * One that many wait for by turns, as the count on a thing that all talk about: sent with the commit, so that what it
 * locks is held for no round trip and for no turn of this process. Source: docs/architecture.md 5.
 */
export interface LastStatement {
  /**
   * Shape: fails (`asHopedSql`) unless all is as the unit needs it and was so within `patienceMs` of the transaction's
   * begin; then nothing is committed, and the unit is run again without a last statement, to do the same in its course
   * and to say what is wrong.
   */
  statement(patienceMs: number): Statement<unknown>;
  /** Sent behind it and ahead of the commit: what must see everything that was committed before its turn came. */
  follow?(): Statement<unknown>;
  /** Hears what it answered once the commit is confirmed; must not fail. */
  done?(rows: readonly unknown[]): void;
}

/** What a last statement needed did not hold. */
export class NotAsHoped extends Error {}

/** How long one may wait by whose rights nobody asks, and at most. Units: ms. */
const MOST_PATIENCE_MS = 1000;
/** What PostgreSQL says of a division by zero. */
const NOT_AS_HOPED = '22012';

/** What waits for longer than rights hold that were looked at must not be committed by them. */
export function patienceOf(rights: Rights | undefined): number {
  return Math.max(0, Math.min(rights?.leftMs() ?? MOST_PATIENCE_MS, MOST_PATIENCE_MS));
}

/**
 * An integer expression for last statements: 1, or an error where `rows`, a FROM item, has none or `patience`, an expression
 * in milliseconds, has gone by since the transaction began: what left before the statement may have waited too.
 */
export function asHopedSql(rows: string, patience: string): string {
  return `1 / (select count(*) filter (where clock_timestamp() - transaction_timestamp()
      <= ${patience}::double precision * interval '1 ms') from ${rows})::integer`;
}

/**
 * Sends all four before the process turns to anything else, and answers with the rows of the second. Errors: NotAsHoped;
 * what the server says of the first three, since it rolls back then; those of the commit.
 */
export async function together<R>(
  write: () => Promise<void>,
  ask: () => Promise<R[]>,
  follow: () => Promise<unknown>,
  commit: () => Promise<void>,
): Promise<R[]> {
  const [written, asked, followed, committed] = await Promise.allSettled([write(), ask(), follow(), commit()]);
  for (const one of [written, asked, followed]) {
    if (one.status === 'rejected' && isRefused(one.reason)) throw meant(one.reason);
  }
  for (const one of [committed, written, followed]) if (one.status === 'rejected') throw one.reason;
  if (asked.status === 'rejected') throw asked.reason;
  return asked.value;
}

function isRefused(reason: unknown): boolean {
  return wasRolledBack(reason instanceof Unavailable ? reason.cause : reason);
}

function meant(reason: unknown): unknown {
  return sqlStateOf(reason) === NOT_AS_HOPED ? new NotAsHoped() : reason;
}
