import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableReference } from '../../../base/noteables/reader';
import { systemNotes, writeSystemNotes } from '../system-notes';

const settled = statement<{ noteable: number; type: string }, { readonly is_settled: boolean; readonly at: Date }>(
  'notes_all_resolved',
  `select not exists (select 1 from notes n where n.noteable_id = :noteable::bigint and n.noteable_type = :type
     and n.thread_id is not null and n.resolved_at is null and not n.system) as is_settled, now() as at`,
);

/**
 * Writes the note that no thread of a merge request is open any more. Other kinds have no such note. The caller resolved a
 * thread in the same transaction. Source: reference repositories 8.12.
 */
export async function noteAllResolved(
  tx: Tx,
  { kind, parent }: Pick<NoteableReference, 'kind'> & { readonly parent: { readonly id: number } },
  noteableId: number,
  actorId: number,
): Promise<void> {
  if (!kind.abilities.includes('diff-threads')) return;
  const [row] = await tx.run(settled, { noteable: noteableId, type: kind.type });
  if (!row?.is_settled) return;
  const bodies = [systemNotes.threadsResolved];
  await writeSystemNotes(tx, kind, { noteableId, projectId: parent.id, actorId, bodies, at: row.at });
}
