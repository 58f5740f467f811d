import { noteDeleted } from '@rookery/contracts';
import { declareAttachedTable, prepareStatement, REMOVAL_CHUNK, runInChunks } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { lockNoteables } from '../../base/noteables/noteable-locks';
import { groupedByKind, cachePerNoteableKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import {
  deletedThreadSystemNotesCountSql,
  deleteEmptyDiffThreadsSql,
  promoteNextDiscussionHeadSql,
} from './discussions/threads-sql';
import type { Note } from './note.entity';

/** Maximum number of notes that one transaction removes with events and counters. */
const ANNOUNCED_COUNT = 500;

const deleteNotesOfNoteables = cachePerNoteableKind(({ table, type }) =>
  prepareStatement(
    `notes_remove_of_${table}`,
    `delete from notes where noteable_id = any($1::bigint[]) and noteable_type = '${type}'`,
  ),
);
const deleteNotesOfProjects = cachePerNoteableKind(({ table, type }) =>
  prepareStatement(
    `notes_remove_of_projects_${table}`,
    `delete from notes where id in (
       select n.id from notes n join ${table} i on n.noteable_id = i.id and n.noteable_type = '${type}'
       where i.project_id = any($1::bigint[]) limit ${REMOVAL_CHUNK})
     returning 1`,
  ),
);
const deleteNotesBelowAuthored = cachePerNoteableKind(({ table, type }) =>
  prepareStatement(
    `notes_remove_below_${table}_of`,
    `delete from notes where id = any(array(
       select n.id from ${table} i join notes n on n.noteable_id = i.id and n.noteable_type = '${type}'
       where i.author_id = $1::bigint limit ${REMOVAL_CHUNK})) returning 1`,
  ),
);
/** Places of diff threads. Each kind of parent has the same statement with another condition on the noteable `i`. */
const declareDiffPositionRemoval = (scopeName: string, condition: string) =>
  cachePerNoteableKind(({ table, type }) =>
    prepareStatement(
      `note_positions_remove_of_${scopeName}_${table}`,
      `delete from note_positions p using ${table} i
       where p.noteable_id = i.id and p.noteable_type = '${type}' and ${condition}`,
    ),
  );
const removePlacesOfNoteables = declareDiffPositionRemoval('noteables', 'i.id = any($1::bigint[])');
const removePlacesOfProjects = declareDiffPositionRemoval('projects', 'i.project_id = any($1::bigint[])');
const removePlacesBelowAuthored = declareDiffPositionRemoval('authored', 'i.author_id = $1::bigint');
const canHaveDiffPositions = ({ abilities }: NoteableKind): boolean => abilities.includes('diff-threads');

const selectByAuthor = prepareStatement(
  'notes_written_by',
  `select n.id, n.noteable_id, n.noteable_type from notes n where n.author_id = $1::bigint limit ${ANNOUNCED_COUNT}`,
);
const deleteNotesAndCount = cachePerNoteableKind(({ abilities, table, writes, shownId, parent }) =>
  prepareStatement(
    `notes_remove_and_count_${table}`,
    `with gone as (
       delete from notes where id = any($1::bigint[])
       returning id, noteable_type, noteable_id, project_id, author_id, internal, system, thread_id, is_reply
     ), ${promoteNextDiscussionHeadSql('gone')}${deleteEmptyDiffThreadsSql({ abilities }, 'gone')}, counted as (
       select noteable_id, count(*) filter (where system) as system, count(*) filter (where internal) as internal,
         count(*) filter (where not system and not internal) as public
       from gone group by noteable_id
     ), kept as (
       ${writes.update} public_notes_count = i.public_notes_count - c.public,
         internal_notes_count = i.internal_notes_count - c.internal, system_notes_count = i.system_notes_count - c.system
           - ${deletedThreadSystemNotesCountSql({ abilities })}
       from counted c where i.id = c.noteable_id
     )
     select g.id as note_id, g.noteable_type, g.noteable_id, ${shownId === 'iid' ? 'i.iid' : 'null::bigint'} as noteable_iid,
       g.project_id, ${parent === 'group' ? 'i.group_id' : 'null::bigint as group_id'}, g.author_id, g.internal
     from gone g left join ${table} i on i.id = g.noteable_id`,
  ),
);

/** Removes all notes of noteables that the same transaction removes; updates no counter and publishes no event. */
export async function removeNotesOfNoteables(tx: Tx, kind: NoteableKind, ids: readonly number[]): Promise<void> {
  if (canHaveDiffPositions(kind)) await tx.prepared(removePlacesOfNoteables(kind), [ids]);
  await tx.prepared(deleteNotesOfNoteables(kind), [ids]);
}

/** Removes all notes on one kind of noteable in projects that are removed too. */
export async function removeNotesOfProjects(tx: Tx, kind: NoteableKind, projectIds: readonly number[]): Promise<void> {
  if (canHaveDiffPositions(kind)) await tx.prepared(removePlacesOfProjects(kind), [projectIds]);
  await runInChunks(tx, deleteNotesOfProjects(kind), [projectIds]);
}

/** Removes one chunk of the notes on noteables that a user wrote. Returns true when none is left. */
export async function removeNotesChunkOnAuthoredNoteables(
  tx: Tx,
  kind: NoteableKind,
  authorId: number,
): Promise<boolean> {
  if (canHaveDiffPositions(kind)) await tx.prepared(removePlacesBelowAuthored(kind), [authorId]);
  return (await tx.prepared(deleteNotesBelowAuthored(kind), [authorId])).length < REMOVAL_CHUNK;
}

/** Removes one chunk of a user's notes, with counters and events. Returns true when none is left. */
export async function removeNotesChunkByAuthor(tx: Tx, kinds: NoteableKinds, authorId: number): Promise<boolean> {
  const found = await tx.prepared<RowOf<Note, 'id' | 'noteableId' | 'noteableType'>>(selectByAuthor, [authorId]);
  for (const [kind, notes] of groupedByKind(kinds, found, (note) => note.noteable_type)) {
    // Noteables are locked before their notes, as in every change of notes.
    await lockNoteables(tx, kind, [...new Set(notes.flatMap((note) => note.noteable_id ?? []))]);
    for (const note of await tx.prepared<DeletedNote>(deleteNotesAndCount(kind), [notes.map(({ id }) => id)]))
      tx.emit(noteDeleted.of({ aggregateId: note.note_id, actorId: null, data: note }));
  }
  return found.length < ANNOUNCED_COUNT;
}

type DeletedNote = Parameters<typeof noteDeleted.of>[0]['data'];

/** Removal of notes. */
export const attachedNotes = declareAttachedTable({
  table: 'notes',
  noteable: {
    type: 'noteable_type',
    id: 'noteable_id',
    because: 'notes are removed in the transaction of their noteable (`removeNotesOfNoteables`)',
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
      because: 'with hard_delete each note is counted and announced (`removeNotesChunkByAuthor`)',
    },
  ],
  stays: {
    edited_by_id:
      'decides which user mentions others by an edited text; no response shows it, and a removed user mentions no one',
    referenced_id: 'a system note remains after the noteable that it names is deleted',
    thread_id: 'groups the notes of one noteable',
  },
});
/** Suggestions go with their note by a foreign key. */
export const attachedNotePositions = declareAttachedTable({
  table: 'note_positions',
  key: 'thread_id',
  noteable: {
    type: 'noteable_type',
    id: 'noteable_id',
    because: 'places of threads are removed with the notes of their noteable (`removeNotesOfNoteables`)',
  },
  stays: { thread_id: 'is the key, and names the note that started the thread', commit_id: 'names a commit of git' },
});
export const attachedNoteCreations = declareAttachedTable({
  table: 'note_creations',
  key: 'user_id',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
