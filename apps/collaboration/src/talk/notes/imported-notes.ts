import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { addImported, checkEach, findImported, newObjects } from '../../base/imported-objects/imported-objects';
import type { CheckedObject } from '../../base/imported-objects/imported-objects';
import { perKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { quoteMentions } from '../mentions/quoted-mentions';
import { isWritableBody } from './note.entity';

type Given = ImportedObject<'note'>;
type Kind = Pick<NoteableKind, 'type' | 'table' | 'writes'>;

/** Facts of the import of notes. */
export interface NotesImport {
  readonly kind: Kind;
  /** Field with the upstream number of the noteable, which is the kind of its imported object, too. */
  readonly on: 'issue' | 'merge_request';
  readonly projectId: number;
  /** Kind of the upstream host. */
  readonly source: string;
  /** Maximum number of comments on one noteable. */
  readonly mostComments: number;
}

interface NewNote extends Given {
  readonly noteable_id: number;
}

/** $1 ids. Locks noteables and returns the numbers of their comments. */
const lock = perKind(({ table }: Kind) =>
  statement<{ ids: readonly number[] }, { id: number; comments: number }>(
    `${table}_lock_for_notes`,
    `select i.id, i.public_notes_count + i.internal_notes_count as comments from ${table} i
     where i.id = any(:ids::bigint[]) order by i.id for no key update`,
  ),
);
const add = perKind(({ table, type, writes }: Kind) =>
  statement<{ project: number; source: string; rows: string }, { id: number }>(
    `notes_import_${table}`,
    `with given as materialized (
       select n.*, nextval(pg_get_serial_sequence('notes', 'id')) as new_id from (
         select * from jsonb_to_recordset(:rows::jsonb) as n (place integer, noteable_id bigint, author_id bigint, body text,
           created_at timestamptz, updated_at timestamptz) order by place) n
     ), counted as (
       ${writes.update} public_notes_count = i.public_notes_count + g.count
       from (select noteable_id, count(*)::integer as count from given group by noteable_id) g where i.id = g.noteable_id
     ), written as (
       insert into notes (id, noteable_type, noteable_id, project_id, author_id, body, imported_from, created_at, updated_at)
       select g.new_id, '${type}', g.noteable_id, :project::bigint, g.author_id, g.body, :source, g.created_at, g.updated_at
       from given g
     )
     select new_id as id from given order by place`,
  ),
);

/**
 * Adds comments on imported issues or merge requests with their authors and times; those on others are left out.
 * Publishes no event, and quick actions in texts have no effect. Returns those that break a rule, and those whose
 * noteable was not imported.
 */
export async function importNotes(
  tx: Tx,
  { kind, on, projectId, source, mostComments }: NotesImport,
  objects: readonly Given[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: projectId, kind: 'note' } as const;
  const own = objects.flatMap((object, index) => (kindOf(object) === on ? [{ object, index }] : []));
  const { valid, failed } = checkEach(
    own.map(({ object }) => object),
    noteOf,
  );
  const found = await newObjects(tx, of, valid, ({ id }) => id);
  const noteables = await findImported(
    tx,
    { project: projectId, kind: on },
    found.map(({ object }) => object[on] ?? 0),
  );
  const locked = await tx.run(lock(kind), { ids: [...noteables.values()] });
  const room = new Map(locked.map(({ id, comments }) => [id, mostComments - comments]));
  const problems: UnimportedObject[] = [];
  const notes = inOrder(found).flatMap(({ index, object }): NewNote[] => {
    const noteable_id = noteables.get(object[on] ?? 0) ?? 0;
    const left = room.get(noteable_id);
    if (left !== undefined && left > 0) room.set(noteable_id, left - 1);
    if (left !== undefined && left > 0) return [{ ...object, noteable_id }];
    const problem = left === undefined ? 'was not imported' : 'has too many comments';
    problems.push({ index, message: `Its ${NOUNS[on]} ${problem}.` });
    return [];
  });
  const rows = notes.map((note, place) => ({ ...note, place }));
  const added = await tx.run(add(kind), { project: projectId, source, rows: JSON.stringify(rows) });
  await addImported(
    tx,
    of,
    added.map(({ id }, place) => ({ upstreamId: notes[place]!.id, id })),
  );
  return [...failed, ...problems].map(({ index, message }) => ({ index: own[index]!.index, message }));
}

const NOUNS = { issue: 'issue', merge_request: 'merge request' } as const;

function kindOf({ merge_request: number }: Given): NotesImport['on'] {
  return number === null || number === undefined ? 'issue' : 'merge_request';
}

/** Errors: Invalid. */
function noteOf(given: Given): Given {
  const body = quoteMentions(given.body);
  if (!isWritableBody(body)) throw new Invalid({ text: ['is blank or too long'] });
  return { ...given, body };
}

/** Orders by time and upstream id, so that local ids have the order of the conversation. */
function inOrder(notes: readonly CheckedObject<Given>[]): readonly CheckedObject<Given>[] {
  return [...notes].sort(
    ({ object: a }, { object: b }) => Date.parse(a.created_at) - Date.parse(b.created_at) || a.id - b.id,
  );
}
