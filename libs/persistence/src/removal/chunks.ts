import type { PreparedStatement } from '../sql/prepared';
import type { Tx } from '../work/work';

/** Units: rows that one statement removes at most after a parent was deleted, so that none nears its time limit. */
export const REMOVAL_CHUNK = 5000;

/**
 * Units: rows that one statement changes at most after a user was removed, so that other writers wait briefly for its
 * locks.
 */
export const DEPARTURE_CHUNK = 1000;

/**
 * Repeats a statement within the transaction until it finds less than a chunk. The statement changes at most
 * `REMOVAL_CHUNK` rows and returns one row for each.
 */
export async function runInChunks(tx: Tx, statement: PreparedStatement, values: readonly unknown[]): Promise<void> {
  while ((await tx.prepared(statement, values)).length === REMOVAL_CHUNK);
}

/**
 * A condition for the next chunk of rows. `key` is the primary key, or `ctid` where that has several columns. It is an
 * array and not a sub-select: PostgreSQL may answer a sub-select by reading the whole table.
 */
export function chunkSql(o: {
  readonly table: string;
  readonly key: string;
  readonly where: string;
  readonly limit: number;
  readonly isLocked?: boolean;
}): string {
  const lock = o.isLocked ? ' for no key update' : '';
  return `${o.key} = any(array(select ${o.key} from ${o.table} where ${o.where} limit ${o.limit}${lock}))`;
}
