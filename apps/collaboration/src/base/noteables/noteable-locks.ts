import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from './noteable-kinds';
import type { NoteableKind } from './noteable-kinds';

const lockNoteableRows = cachePerNoteableKind(({ table }) =>
  prepareStatement(
    `${table}_hold`,
    `select 1 from ${table} i where i.id = any($1::bigint[]) order by i.id for no key update`,
  ),
);

/**
 * Locks noteables of one kind against changes until the transaction ends. To avoid deadlocks, a transaction locks all its
 * noteables of a kind with one call, and issues before epics. Source: docs/architecture.md 5.
 */
export async function lockNoteables(tx: Tx, kind: NoteableKind, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.prepared(lockNoteableRows(kind), [ids]);
}
