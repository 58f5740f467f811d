import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../base/imported-objects/imported-objects';
import type { CheckedObject } from '../../base/imported-objects/imported-objects';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { addImportedStateEvents } from '../../base/resource-events/imported-state-events';
import type { ImportedStateEvent } from '../../base/resource-events/imported-state-events';
import { addImportedLabelEvents, findLabelIds } from '../../planning/labels/imported-labels';
import type { ImportedLabelEvent } from '../../planning/labels/imported-labels';
import { addImportedMilestoneEvents, findMilestoneIds } from '../../planning/milestones/imported-milestones';
import type { ImportedMilestoneEvent } from '../../planning/milestones/imported-milestones';
import { wrapMentionsInCode } from '../../talk/mentions/quoted-mentions';
import { writeCrossReferenceNotes } from '../../talk/notes/cross-reference-notes';
import type { CrossReference } from '../../talk/notes/cross-reference-notes';
import { sortImportedNotesByTime } from '../../talk/notes/imported-notes';
import { insertImportedSystemNotes, NoteCapacity } from '../../talk/notes/imported-note-rows';
import type { ImportedSystemNote, NotesImport } from '../../talk/notes/imported-note-rows';
import { systemNotes } from '../../talk/notes/system-notes';

type ImportedIssueEvent = ImportedObject<'issue_event'>;

/** Kinds of objects that mention others, by the signs of their references. */
const KIND_BY_SIGN = { '#': 'issue', '!': 'merge_request' } as const;

/** Rows of the changes of one kind of noteables. */
interface ChangeRows {
  readonly states: ImportedStateEvent[];
  readonly labellings: ImportedLabelEvent[];
  readonly milestones: ImportedMilestoneEvent[];
  readonly notes: ImportedSystemNote[];
  readonly references: CrossReference[];
}

/** Ids by the names that changes use. */
interface ChangeIdsByName {
  readonly labels: ReadonlyMap<string, number>;
  readonly milestones: ReadonlyMap<string, number>;
  /** Issues and merge requests by their references: `#5`, `!5`. */
  readonly mentioning: ReadonlyMap<string, number>;
}

/**
 * Adds changes of one kind of noteable, issues or merge requests, as resource events and system notes. Skips changes of the
 * other kind. Does not change the noteables, and publishes no event. Returns the changes that cannot be added: the label,
 * milestone, noteable or mentioning object is missing, or the noteable has too many changes.
 * Source: reference identity-and-import 6.6.
 */
export async function importNoteableChanges(
  tx: Tx,
  project: ProjectFacts,
  notesImport: NotesImport & { readonly kind: NoteableKind },
  objects: readonly ImportedIssueEvent[],
): Promise<readonly UnimportedObject[]> {
  const { on, kind, projectId } = notesImport;
  const of = { project: projectId, kind: 'issue_event' } as const;
  const own = objects.flatMap((object, index) => (object[on] === null ? [] : [{ object, index }]));
  const found = sortImportedNotesByTime(await omitAlreadyImportedObjects(tx, of, own, ({ id }) => id));
  const numbers = found.map(({ object }) => object[on]!);
  const noteables = await findImportedObjectIds(tx, { project: projectId, kind: on }, numbers);
  const room = await NoteCapacity.lockNoteables(tx, notesImport, [...noteables.values()]);
  const names = await findIdsByName(tx, project, found);
  const rows: ChangeRows = { states: [], labellings: [], milestones: [], notes: [], references: [] };
  const problems: UnimportedObject[] = [];
  const added: { readonly upstreamId: number; readonly id: number }[] = [];
  for (const { index, object } of found) {
    const id = noteables.get(object[on]!);
    const message =
      room.takeChange(id) ?? addChangeRow(rows, names, { ...object, noteable_id: id!, project_id: projectId });
    if (message === null) added.push({ upstreamId: object.id, id: id! });
    else problems.push({ index, message });
  }
  await addImportedStateEvents(tx, kind, projectId, rows.states);
  await addImportedLabelEvents(tx, kind, project, rows.labellings);
  await addImportedMilestoneEvents(tx, kind, project, rows.milestones);
  await insertImportedSystemNotes(tx, notesImport, rows.notes);
  await writeCrossReferenceNotes(tx, kind, rows.references, notesImport.source);
  await addImportedObjects(tx, of, added);
  return problems;
}

/** A change of a noteable that exists. */
interface ImportedChange extends ImportedIssueEvent {
  readonly noteable_id: number;
  readonly project_id: number;
}

async function findIdsByName(
  tx: Tx,
  project: ProjectFacts,
  found: readonly CheckedObject<ImportedIssueEvent>[],
): Promise<ChangeIdsByName> {
  const namesIn = (...changes: readonly ImportedIssueEvent['change'][]): string[] =>
    found.flatMap(({ object: { change, name } }) => (changes.includes(change) && name !== null ? [name] : []));
  return {
    labels: await findLabelIds(tx, project, namesIn('label_added', 'label_removed')),
    milestones: await findMilestoneIds(tx, project, namesIn('milestone_added', 'milestone_removed')),
    mentioning: await findMentioningNoteableIds(tx, project.id, namesIn('mentioned')),
  };
}

async function findMentioningNoteableIds(
  tx: Tx,
  project: number,
  references: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const [sign, kind] of Object.entries(KIND_BY_SIGN)) {
    const numbers = references.flatMap((text) => (text.startsWith(sign) ? [Number(text.slice(1))] : []));
    const ids = await findImportedObjectIds(tx, { project, kind }, numbers.filter(Number.isSafeInteger));
    for (const [number, id] of ids) found.set(`${sign}${number}`, id);
  }
  return found;
}

/** Adds the row of a change. Returns null, or the reason why the change cannot be added. */
function addChangeRow(
  rows: ChangeRows,
  { labels, milestones, mentioning }: ChangeIdsByName,
  given: ImportedChange,
): string | null {
  const { change, created_at, author_id: user_id, noteable_id } = given;
  const name = given.name ?? '';
  const common = { noteable_id, user_id, created_at };
  if (change === 'closed' || change === 'reopened' || change === 'merged') {
    rows.states.push({ ...common, state: change });
    return null;
  }
  if (change === 'label_added' || change === 'label_removed') {
    const label_id = labels.get(name);
    if (label_id === undefined) return 'Its label does not exist.';
    rows.labellings.push({ ...common, label_id, action: change === 'label_added' ? 'add' : 'remove' });
    return null;
  }
  if (change === 'milestone_added' || change === 'milestone_removed') {
    const milestone_id = milestones.get(name);
    if (milestone_id === undefined) return 'Its milestone does not exist.';
    rows.milestones.push({ ...common, milestone_id, action: change === 'milestone_added' ? 'add' : 'remove' });
    return null;
  }
  if (change === 'mentioned') {
    const id = mentioning.get(name);
    if (id === undefined) return 'The object that mentions it was not imported.';
    const isOfRequest = name.startsWith('!');
    rows.references.push({
      ...{ noteableId: noteable_id, projectId: given.project_id, actorId: user_id, at: created_at },
      text: `${isOfRequest ? 'merge request' : 'issue'} ${name}`,
      from: { type: isOfRequest ? 'MergeRequest' : 'Issue', id },
    });
    return null;
  }
  const body = wrapMentionsInCode(renderChangeNote(change, name, given.before ?? ''));
  rows.notes.push({ noteable_id, author_id: user_id, body, created_at });
  return null;
}

type NoteChange = Extract<ImportedIssueEvent['change'], `${string}assigned` | `review${string}` | 'renamed'>;

function renderChangeNote(change: NoteChange, name: string, before: string): string {
  if (change === 'renamed') return systemNotes.title(before, name);
  if (change === 'assigned') return systemNotes.assignees([name], [])!;
  if (change === 'unassigned') return systemNotes.assignees([], [name])!;
  if (change === 'review_requested') return systemNotes.reviewers([name], [])!;
  return systemNotes.reviewers([], [name])!;
}
