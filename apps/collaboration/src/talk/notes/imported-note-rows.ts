import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

type NoteableTable = Pick<NoteableKind, 'type' | 'table' | 'writes'>;

/** Facts of the import of notes. */
export interface NotesImport {
  readonly kind: NoteableTable;
  /** Kind of the imported object that is the noteable, as notes name it. */
  readonly on: 'issue' | 'merge_request';
  readonly projectId: number;
  /** Kind of the upstream host. */
  readonly source: string;
  /** Maximum number of comments on one noteable. */
  readonly mostComments: number;
}

/** A note to insert. `thread_id` is null for an individual note. */
export interface ImportedNoteRow {
  readonly id: number;
  readonly noteable_id: number;
  readonly author_id: number;
  readonly body: string;
  readonly thread_id: number | null;
  readonly is_reply: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A system note to insert. */
export interface ImportedSystemNote {
  readonly noteable_id: number;
  readonly author_id: number;
  readonly body: string;
  readonly created_at: string;
}

/** Locks noteables and returns the numbers of their comments. */
const lockForImport = cachePerNoteableKind(({ table }: NoteableTable) =>
  statement<{ ids: readonly number[] }, { id: number; comments: number; changes: number }>(
    `${table}_lock_for_notes`,
    `select i.id, i.public_notes_count + i.internal_notes_count as comments,
       i.system_notes_count as changes
     from ${table} i
     where i.id = any(:ids::bigint[]) order by i.id for no key update`,
  ),
);
const RESERVE = statement<{ count: number }, { id: number }>(
  'notes_reserve_ids',
  `select nextval(pg_get_serial_sequence('notes', 'id')) as id from generate_series(1, :count::integer)`,
);
const insertNotes = cachePerNoteableKind(({ table, type, writes }: NoteableTable) =>
  statement<{ project: number; source: string; rows: string }, never>(
    `notes_import_${table}`,
    `with given as materialized (
       select * from jsonb_to_recordset(:rows::jsonb) as n (id bigint, noteable_id bigint, author_id bigint, body text,
         thread_id bigint, is_reply boolean, created_at timestamptz, updated_at timestamptz)
     ), counted as (
       ${writes.update} public_notes_count = i.public_notes_count + g.count
       from (select noteable_id, count(*)::integer as count from given group by noteable_id) g where i.id = g.noteable_id
     )
     insert into notes (id, noteable_type, noteable_id, project_id, author_id, body, thread_id, is_reply, imported_from,
       created_at, updated_at)
     select g.id, '${type}', g.noteable_id, :project::bigint, g.author_id, g.body, g.thread_id, g.is_reply, :source,
       g.created_at, g.updated_at
     from given g order by g.id`,
  ),
);

const insertSystemNotes = cachePerNoteableKind(({ table, type, writes }: NoteableTable) =>
  statement<{ project: number; source: string; rows: string }, never>(
    `system_notes_import_${table}`,
    `with given as materialized (
       select * from jsonb_to_recordset(:rows::jsonb) as n (place integer, noteable_id bigint, author_id bigint, body text,
         created_at timestamptz)
     ), counted as (
       ${writes.update} system_notes_count = i.system_notes_count + g.count
       from (select noteable_id, count(*)::integer as count from given group by noteable_id) g where i.id = g.noteable_id
     )
     insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, imported_from, created_at, updated_at)
     select '${type}', g.noteable_id, :project::bigint, g.author_id, g.body, true, :source, g.created_at, g.created_at
     from given g order by g.place`,
  ),
);

/** Maximum number of changes of an imported noteable, system notes included. Its deletion removes all of them at once. */
const MOST_CHANGES = 5000;

/** Numbers of comments, and of notes about changes, that locked noteables can still take. */
export class NoteCapacity {
  private constructor(
    private readonly noun: string,
    private readonly left: Map<number, number>,
    private readonly changesLeft: Map<number, number>,
  ) {}

  /** Locks noteables until the end of the transaction. */
  static async lockNoteables(
    tx: Tx,
    { kind, on, mostComments }: NotesImport,
    ids: readonly number[],
  ): Promise<NoteCapacity> {
    const rows = await tx.run(lockForImport(kind), { ids });
    const left = new Map(rows.map(({ id, comments }) => [id, mostComments - comments]));
    const changesLeft = new Map(rows.map(({ id, changes }) => [id, MOST_CHANGES - changes]));
    return new NoteCapacity(on.replace('_', ' '), left, changesLeft);
  }

  /** Counts one comment. Returns the reason if the noteable is missing or at its limit, and null otherwise. */
  takePlace(noteableId: number | undefined): string | null {
    return this.takeRoomOrExplain(this.left, noteableId, 'comments');
  }

  /** Counts one change. Returns as `takePlace`. */
  takeChange(noteableId: number | undefined): string | null {
    return this.takeRoomOrExplain(this.changesLeft, noteableId, 'changes');
  }

  private takeRoomOrExplain(counts: Map<number, number>, noteableId: number | undefined, noun: string): string | null {
    const left = noteableId === undefined ? undefined : counts.get(noteableId);
    if (left === undefined) return `Its ${this.noun} was not imported.`;
    if (left <= 0) return `Its ${this.noun} has too many ${noun}.`;
    counts.set(noteableId!, left - 1);
    return null;
  }
}

/** Reserves ids of notes, in ascending order. */
export async function reserveNoteIds(tx: Tx, count: number): Promise<readonly number[]> {
  return (await tx.run(RESERVE, { count })).map(({ id }) => id);
}

/** Inserts notes and counts them on their noteables, without an event. */
export async function insertImportedNotes(
  tx: Tx,
  { kind, projectId: project, source }: NotesImport,
  rows: readonly ImportedNoteRow[],
): Promise<void> {
  await tx.run(insertNotes(kind), { project, source, rows: JSON.stringify(rows) });
}

/** Inserts system notes and counts them on their noteables, which are locked. */
export async function insertImportedSystemNotes(
  tx: Tx,
  { kind, projectId: project, source }: Omit<NotesImport, 'mostComments'>,
  rows: readonly ImportedSystemNote[],
): Promise<void> {
  if (rows.length > 0)
    await tx.run(insertSystemNotes(kind), {
      ...{ project, source },
      rows: JSON.stringify(rows.map((row, place) => ({ ...row, place }))),
    });
}
