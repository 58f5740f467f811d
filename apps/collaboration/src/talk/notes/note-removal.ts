import { noteDeleted } from '@rookery/contracts';
import { attachedTo, prepared, REMOVAL_CHUNK, runInChunks } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { holdThings } from '../../base/noteables/holding';
import { groupedByKind, perKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { followedSql } from './discussions/threads-sql';
import type { Note } from './note.entity';

/** Units: notes that one transaction counts and announces. */
const ANNOUNCED = 500;

const ofThings = perKind(({ table, type }) =>
  prepared(
    `notes_remove_of_${table}`,
    `delete from notes where noteable_id = any($1::bigint[]) and noteable_type = '${type}'`,
  ),
);
const ofProjects = perKind(({ table, type }) =>
  prepared(
    `notes_remove_of_projects_${table}`,
    `delete from notes where id in (
       select n.id from notes n join ${table} i on n.noteable_id = i.id and n.noteable_type = '${type}'
       where i.project_id = any($1::bigint[]) limit ${REMOVAL_CHUNK})
     returning 1`,
  ),
);
const belowThingsOf = perKind(({ table, type }) =>
  prepared(
    `notes_remove_below_${table}_of`,
    `delete from notes where id = any(array(
       select n.id from ${table} i join notes n on n.noteable_id = i.id and n.noteable_type = '${type}'
       where i.author_id = $1::bigint limit ${REMOVAL_CHUNK})) returning 1`,
  ),
);
const written = prepared(
  'notes_written_by',
  `select n.id, n.noteable_id, n.noteable_type from notes n where n.author_id = $1::bigint limit ${ANNOUNCED}`,
);
const removeAndCount = perKind(({ table, writes, shownId, parent }) =>
  prepared(
    `notes_remove_and_count_${table}`,
    `with gone as (
       delete from notes where id = any($1::bigint[])
       returning id, noteable_type, noteable_id, project_id, author_id, internal, system, thread_id, is_reply
     ), ${followedSql('gone')}, counted as (
       select noteable_id, count(*) filter (where system) as system, count(*) filter (where internal) as internal,
         count(*) filter (where not system and not internal) as public
       from gone group by noteable_id
     ), kept as (
       ${writes.update} public_notes_count = i.public_notes_count - c.public,
         internal_notes_count = i.internal_notes_count - c.internal, system_notes_count = i.system_notes_count - c.system
       from counted c where i.id = c.noteable_id
     )
     select g.id as note_id, g.noteable_type, g.noteable_id, ${shownId === 'iid' ? 'i.iid' : 'null::bigint'} as noteable_iid,
       g.project_id, ${parent === 'group' ? 'i.group_id' : 'null::bigint as group_id'}, g.author_id, g.internal
     from gone g left join ${table} i on i.id = g.noteable_id`,
  ),
);

/** All notes of things that go too, in the same transaction; nothing is counted or told. */
export async function removeNotesOf(tx: Tx, kind: NoteableKind, ids: readonly number[]): Promise<void> {
  await tx.prepared(ofThings(kind), [ids]);
}

/** All notes of one kind in projects that go too. */
export async function removeNotesOfProjects(tx: Tx, kind: NoteableKind, projectIds: readonly number[]): Promise<void> {
  await runInChunks(tx, ofProjects(kind), [projectIds]);
}

/** A part of the notes below what somebody wrote. True when nothing was left. */
export async function removeNotesBelow(tx: Tx, kind: NoteableKind, authorId: number): Promise<boolean> {
  return (await tx.prepared(belowThingsOf(kind), [authorId])).length < REMOVAL_CHUNK;
}

/** A part of somebody's notes; counted and told. True when nothing was left. */
export async function removeNotesBy(tx: Tx, kinds: NoteableKinds, authorId: number): Promise<boolean> {
  const found = await tx.prepared<RowOf<Note, 'id' | 'noteableId' | 'noteableType'>>(written, [authorId]);
  for (const [kind, notes] of groupedByKind(kinds, found, (note) => note.noteable_type)) {
    // Things are held before their notes, as wherever notes change.
    await holdThings(tx, kind, [...new Set(notes.flatMap((note) => note.noteable_id ?? []))]);
    for (const note of await tx.prepared<GoneNote>(removeAndCount(kind), [notes.map(({ id }) => id)]))
      tx.emit(noteDeleted.of({ aggregateId: note.note_id, actorId: null, data: note }));
  }
  return found.length < ANNOUNCED;
}

type GoneNote = Parameters<typeof noteDeleted.of>[0]['data'];

/** Removal of notes. */
export const attachedNotes = attachedTo({
  table: 'notes',
  noteable: {
    type: 'noteable_type',
    id: 'noteable_id',
    because: 'notes are removed in the transaction of their noteable (`removeNotesOf`)',
  },
  project: {
    column: 'project_id',
    because: 'no index is by project; notes are found by the noteables of the project (`removeNotesOfProjects`)',
  },
  users: [
    { column: 'resolved_by_id', onRemoval: 'ghost-or-null' },
    {
      column: 'author_id',
      onRemoval: 'ghost',
      because: 'with hard_delete each note is counted and announced (`removeNotesBy`)',
    },
  ],
  stays: {
    edited_by_id: 'says whose mentions an edited text has; no answer shows it, and a removed user mentions nobody',
    referenced_id: 'a system note remains after the noteable that it names is deleted',
    thread_id: 'groups the notes of one noteable',
  },
});
export const attachedNoteCreations = attachedTo({
  table: 'note_creations',
  key: 'user_id',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
