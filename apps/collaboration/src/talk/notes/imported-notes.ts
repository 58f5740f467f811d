import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../base/imported-objects/imported-objects';
import type { CheckedObject } from '../../base/imported-objects/imported-objects';
import { wrapMentionsInCode } from '../mentions/quoted-mentions';
import { insertImportedNotes, NoteCapacity, reserveNoteIds } from './imported-note-rows';
import type { NotesImport } from './imported-note-rows';
import { isValidNoteBody } from './note.entity';

type ImportedNote = ImportedObject<'note'>;

/**
 * Adds comments on imported issues or merge requests with their authors and times; those on others are left out.
 * Publishes no event, and quick actions in texts have no effect. Returns those that break a rule, and those whose
 * noteable was not imported.
 */
export async function importNotes(
  tx: Tx,
  notesImport: NotesImport,
  objects: readonly ImportedNote[],
): Promise<readonly UnimportedObject[]> {
  const { on, projectId } = notesImport;
  const of = { project: projectId, kind: 'note' } as const;
  const own = objects.flatMap((object, index) => (importedNoteNoteableType(object) === on ? [{ object, index }] : []));
  const { valid, failed } = checkImportObjects(
    own.map(({ object }) => object),
    (given) => ({ ...given, body: toImportedNoteBody(given.body) }),
  );
  const found = sortImportedNotesByTime(await omitAlreadyImportedObjects(tx, of, valid, ({ id }) => id));
  const numbers = found.map(({ object }) => object[on] ?? 0);
  const noteables = await findImportedObjectIds(tx, { project: projectId, kind: on }, numbers);
  const room = await NoteCapacity.lockNoteables(tx, notesImport, [...noteables.values()]);
  const problems: UnimportedObject[] = [];
  const notes = found.flatMap(({ index, object }) => {
    const noteable_id = noteables.get(object[on] ?? 0);
    const message = room.takePlace(noteable_id);
    if (message === null) return [{ ...object, noteable_id: noteable_id!, thread_id: null, is_reply: false }];
    problems.push({ index, message });
    return [];
  });
  const ids = await reserveNoteIds(tx, notes.length);
  const rows = notes.map((note, at) => ({ ...note, id: ids[at]! }));
  await insertImportedNotes(tx, notesImport, rows);
  await addImportedObjects(
    tx,
    of,
    rows.map(({ id }, at) => ({ upstreamId: notes[at]!.id, id })),
  );
  return [...failed, ...problems].map(({ index, message }) => ({ index: own[index]!.index, message }));
}

/** Returns the text of an imported note. Errors: Invalid. */
export function toImportedNoteBody(text: string): string {
  const body = wrapMentionsInCode(text);
  if (!isValidNoteBody(body)) throw new Invalid({ text: ['is blank or too long'] });
  return body;
}

/** Orders by time and upstream id, so that local ids have the order of the conversation. */
export function sortImportedNotesByTime<T extends { readonly id: number; readonly created_at: string }>(
  notes: readonly CheckedObject<T>[],
): readonly CheckedObject<T>[] {
  return [...notes].sort(
    ({ object: a }, { object: b }) => Date.parse(a.created_at) - Date.parse(b.created_at) || a.id - b.id,
  );
}

function importedNoteNoteableType({ merge_request: number }: ImportedNote): NotesImport['on'] {
  return number === null || number === undefined ? 'issue' : 'merge_request';
}
