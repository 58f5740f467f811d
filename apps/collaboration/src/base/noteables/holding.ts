import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { perKind } from './noteable-kinds';
import type { NoteableKind } from './noteable-kinds';

const hold = perKind(({ table }) =>
  prepared(`${table}_hold`, `select 1 from ${table} i where i.id = any($1::bigint[]) order by i.id for no key update`),
);

/**
 * Things of one kind stay as they are until the transaction ends. All that a transaction writes of a kind is held by one
 * call, and issues before epics, so that of many at once nobody waits in a ring. Source: docs/architecture.md 5.
 */
export async function holdThings(tx: Tx, kind: NoteableKind, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.prepared(hold(kind), [ids]);
}
