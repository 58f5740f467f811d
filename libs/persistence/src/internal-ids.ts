import { prepared } from './prepared';
import type { Tx } from './work';

const next = prepared(
  'internal_ids_next',
  `insert into internal_ids (usage, scope_id, last_value) values ($1, $2, 1)
   on conflict (usage, scope_id) do update set last_value = internal_ids.last_value + 1
   returning last_value`,
);

/**
 * The next number inside a scope: the iid of an issue in its project, of an epic in its group.
 * Shape: 1, 2, 3 … without gaps or duplicates; the counter's row stays locked until the transaction ends, so take it
 * late and keep the rest short.
 * Source: requirements 1 §4; ADR 0022.
 */
export async function nextInternalId(tx: Tx, usage: string, scopeId: number): Promise<number> {
  const [row] = await tx.prepared<{ last_value: number }>(next, [usage, scopeId]);
  return row!.last_value;
}
