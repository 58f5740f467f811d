import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Prepared } from '@rookery/persistence';

/** Units: rows that are dropped at once because they are old. */
const OLDEST_CHUNK = 2000;
/** Units: milliseconds. */
const BETWEEN_CHUNKS_MS = 50;

/**
 * What is kept for a time only. Oldest first: ids grow with time, so the walk ends at the first chunk without an old row.
 * Another process that does the same is passed by. Shape: a condition on `id`; $1 days; `done` is a condition on `p`.
 */
export function oldestOf(table: string, done: string): string {
  return `id in (
    with oldest as (select id, created_at from ${table} order by id limit ${OLDEST_CHUNK})
    select o.id from oldest o join ${table} p on p.id = o.id
    where o.created_at < now() - $1::integer * interval '1 day' and ${done} for update of p skip locked)`;
}

/**
 * Drops what is older than so many days by statements with `oldestOf`, chunk by chunk. Answers how many rows went.
 * Errors: the reason of the signal, when it is aborted meanwhile.
 */
export async function dropOldest(
  database: Database,
  statements: readonly Prepared[],
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let total = 0;
  for (const statement of statements) {
    for (let length = OLDEST_CHUNK; length === OLDEST_CHUNK;) {
      ({ length } = await database.prepared(statement, [days]));
      total += length;
      signal?.throwIfAborted();
      if (length === OLDEST_CHUNK) await pause(BETWEEN_CHUNKS_MS);
    }
  }
  return total;
}
