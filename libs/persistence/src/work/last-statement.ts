import { Unavailable } from '@rookery/kernel';
import type { Rights } from '@rookery/platform';
import { sqlStateOf, wasRolledBack } from '../sql/failures';
import type { Statement } from '../sql/prepared';

/**
 * A statement that locks a row for which many transactions queue, such as the comment count of a busy issue. It is sent
 * together with the commit, so that the lock is held for no round trip and for no turn of this process's event loop.
 * Source: docs/architecture.md 5.
 */
export interface LastStatement {
  /**
   * Returns the statement. It must fail (`requireRowsInTimeSql`) unless its condition holds and at most `patienceMs` have
   * passed since the transaction began. If it fails, the transaction commits nothing, and the unit is retried without a
   * last statement. The retry makes the same change in the normal course and reports the problem.
   */
  statement(patienceMs: number): Statement<unknown>;
  /**
   * A statement between this one and the commit, which must see everything that was committed before the lock was
   * taken.
   */
  follow?(): Statement<unknown>;
  /** Called with the statement's rows once the commit is confirmed; must not fail. */
  done?(rows: readonly unknown[]): void;
}

/** The condition of a last statement did not hold. */
export class LastStatementFailed extends Error {}

/** The longest wait of a last statement, also for requests without permissions to recheck. Units: ms. */
const MAX_PATIENCE_MS = 1000;
/** SQLSTATE of a division by zero. */
const DIVISION_BY_ZERO = '22012';

/** How long a last statement may wait: no longer than the caller's checked permissions are valid. */
export function maxLastStatementWaitMs(rights: Rights | undefined): number {
  return Math.max(0, Math.min(rights?.validForMs() ?? MAX_PATIENCE_MS, MAX_PATIENCE_MS));
}

/**
 * An integer expression for last statements: 1, or an error if `rows`, a FROM item, is empty or more than `patience`,
 * an expression in milliseconds, has passed since the transaction began: statements sent before it may have waited too.
 */
export function requireRowsInTimeSql(rows: string, patience: string): string {
  return `1 / (select count(*) filter (where clock_timestamp() - transaction_timestamp()
      <= ${patience}::double precision * interval '1 ms') from ${rows})::integer`;
}

/**
 * Sends all four without awaiting in between, and returns the rows of `ask`. Errors: LastStatementFailed; the server's errors of
 * the first three, since it rolls back then; those of the commit.
 */
export async function sendLastStatementWithCommit<R>(
  write: () => Promise<void>,
  ask: () => Promise<R[]>,
  follow: () => Promise<unknown>,
  commit: () => Promise<void>,
): Promise<R[]> {
  const [written, asked, followed, committed] = await Promise.allSettled([write(), ask(), follow(), commit()]);
  for (const one of [written, asked, followed]) {
    if (one.status === 'rejected' && wasTransactionRolledBack(one.reason)) throw toLastStatementFailure(one.reason);
  }
  for (const one of [committed, written, followed]) if (one.status === 'rejected') throw one.reason;
  if (asked.status === 'rejected') throw asked.reason;
  return asked.value;
}

function wasTransactionRolledBack(reason: unknown): boolean {
  return wasRolledBack(reason instanceof Unavailable ? reason.cause : reason);
}

function toLastStatementFailure(reason: unknown): unknown {
  return sqlStateOf(reason) === DIVISION_BY_ZERO ? new LastStatementFailed() : reason;
}
