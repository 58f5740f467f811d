import { setTimeout as pause } from 'node:timers/promises';
import type { Database, PreparedStatement } from '@rookery/persistence';

/** Units: rows deleted by one statement. */
export const EXPIRED_CHUNK = 2000;
/** Units: milliseconds. */
const BETWEEN_CHUNKS_MS = 50;

/**
 * SQL condition for the next chunk of expired rows, oldest first. Ids grow with time, so the deletion ends at the first
 * chunk without an expired row. Rows that another process has locked are skipped.
 * The condition is on `id`. `$1` is the retention in days. `condition` is a further condition on the row `p`.
 */
export function oldestExpiredRowsSql(table: string, condition: string): string {
  return `id in (
    with oldest as (select id, created_at from ${table} order by id limit ${EXPIRED_CHUNK})
    select o.id from oldest o join ${table} p on p.id = o.id
    where o.created_at < now() - $1::integer * interval '1 day' and ${condition} for update of p skip locked)`;
}

/**
 * Deletes rows older than `days` with statements that delete up to `EXPIRED_CHUNK` rows, chunk by chunk. Returns the number of deleted rows.
 * Errors: the reason of the signal if it is aborted.
 */
export async function deleteExpiredRows(
  database: Database,
  statements: readonly PreparedStatement[],
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const statement of statements) {
    for (let length = EXPIRED_CHUNK; length === EXPIRED_CHUNK;) {
      ({ length } = await database.prepared(statement, [days]));
      total += length;
      signal?.throwIfAborted();
      if (length === EXPIRED_CHUNK) await pause(BETWEEN_CHUNKS_MS);
    }
  }
  return total;
}
