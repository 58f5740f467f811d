import type { DirectoryPosition, NoteableFacts } from '@rookery/contracts';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableReference } from '../../../base/noteables/reader';
import type { ResolvedNote } from '../note.entity';
import { systemNotes, writeSystemNotes } from '../system-notes';

/** Threads of a noteable that were resolved. `resolved` are their notes that were open; none if nothing changed. */
export interface ResolvedThreads extends Pick<NoteableReference, 'kind'> {
  readonly id: number;
  readonly resolved: readonly ResolvedNote[];
}

/** Selects the noteable if all of its public threads are resolved. The noteable must belong to a project. */
const selectIfAllResolved = cachePerNoteableKind(({ table, type }) =>
  statement<{ noteable: number }, NoteableFacts & { readonly at: Date }>(
    `${table}_all_resolved`,
    `select i.id, i.iid, i.project_id, i.author_id, i.created_at, now() as at from ${table} i
     where i.id = :noteable::bigint and not exists (select 1 from notes n where n.noteable_id = i.id
       and n.noteable_type = '${type}' and n.thread_id is not null and n.resolved_at is null and not n.system
       and not n.internal)`,
  ),
);

/**
 * Writes the system note that all public threads of a merge request are resolved, and publishes the event. Other kinds have
 * no such note. Internal threads are ignored, because the note and its e-mail would disclose them.
 * Returns true if it wrote the note. Source: reference repositories 8.12; reference work-tracking 8.4.
 */
export async function announceAllThreadsResolved(
  tx: Tx,
  { kind, id: noteableId, resolved }: ResolvedThreads,
  { userId: actorId, directory: seen }: { readonly userId: number; readonly directory?: DirectoryPosition },
): Promise<boolean> {
  if (!kind.abilities.includes('diff-threads') || resolved.every((note) => note.internal)) return false;
  const [row] = await tx.run(selectIfAllResolved(kind), { noteable: noteableId });
  if (!row) return false;
  const { at, ...facts } = row;
  const bodies = [systemNotes.threadsResolved];
  await writeSystemNotes(tx, kind, { noteableId, projectId: facts.project_id, actorId, bodies, at });
  tx.emit(kind.events.progressedOf!(facts, { step: 'threads_resolved', actorId, seen, at }));
  return true;
}
