import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Prepared } from '@rookery/persistence';

/** Units: rows that one statement changes at most, so that none nears its time limit and nobody waits for a lock. */
export const TRACES_CHUNK = 1000;

/**
 * What a table holds of people, as statements that change at most `TRACES_CHUNK` rows and answer one row for each.
 * Values: $1 the person; $2 who gets it, where it is handed over. Source: ADR 0136.
 */
export interface Traces {
  /** Rows that are the person's own: removed in any case. */
  readonly own: readonly Prepared[];
  /** Columns that name the person: set to whoever gets what they wrote, or to null. */
  readonly named?: readonly Prepared[];
  /** What the person wrote: given to another user, unless it is removed too. */
  readonly written?: readonly Prepared[];
  /** Removes what would be given away, where no event tells of each row. */
  readonly dropWritten?: readonly Prepared[];
}

/** Rows of a person, found by an index. An array, not a sub-select: that may be answered by reading the whole table. */
export function chunkOf(table: string, key: string, where: string): string {
  return `${key} = any(array(select ${key} from ${table} where ${where} limit ${TRACES_CHUNK} for no key update))`;
}

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
