import { prepareStatement } from '../sql/prepared';
import type { Tx } from './work';

const next = prepareStatement(
  'internal_ids_next',
  `insert into internal_ids (usage, scope_id, last_value) values ($1, $2, 1)
   on conflict (usage, scope_id) do update set last_value = internal_ids.last_value + 1
   returning last_value`,
);

/**
 * Returns the next number inside a scope: the iid of an issue in its project, of an epic in its group. The numbers are
 * 1, 2, 3 … without gaps or duplicates. The counter's row stays locked until the transaction ends, so take the number
 * late and keep the rest short.
 * Source: requirements 1 §4; reference reliability 5.
 */
export async function nextInternalId(tx: Tx, usage: string, scopeId: number): Promise<number> {
  const [row] = await tx.prepared<{ last_value: number }>(next, [usage, scopeId]);
  return row!.last_value;
}

const raise = prepareStatement(
  'internal_ids_raise',
  `insert into internal_ids (usage, scope_id, last_value) values ($1, $2, $3)
   on conflict (usage, scope_id) do update set last_value = greatest(internal_ids.last_value, excluded.last_value)`,
);

/** Raises the counter to a number that was set explicitly. */
export async function raiseInternalId(tx: Tx, usage: string, scopeId: number, value: number): Promise<void> {
  await tx.prepared(raise, [usage, scopeId, value]);
}

const drop = prepareStatement(
  'internal_ids_drop',
  `delete from internal_ids where usage = $1 and scope_id = any($2::bigint[])`,
);

/** Deletes the counters of deleted scopes. */
export async function dropInternalIds(tx: Tx, usage: string, scopeIds: readonly number[]): Promise<void> {
  await tx.prepared(drop, [usage, scopeIds]);
}
