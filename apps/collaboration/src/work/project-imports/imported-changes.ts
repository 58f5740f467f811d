import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import type { Tx } from '@rookery/persistence';
import { addImported, findImported, newObjects } from '../../base/imported-objects/imported-objects';
import type { CheckedObject } from '../../base/imported-objects/imported-objects';
import { addImportedStates } from '../../base/resource-events/imported-states';
import type { ImportedState } from '../../base/resource-events/imported-states';
import { addImportedLabellings, labelIdsOf } from '../../planning/labels/imported-labels';
import type { ImportedLabelling } from '../../planning/labels/imported-labels';
import { addImportedMilestoneChanges, milestoneIdsOf } from '../../planning/milestones/imported-milestones';
import type { ImportedMilestoneChange } from '../../planning/milestones/imported-milestones';
import { quoteMentions } from '../../talk/mentions/quoted-mentions';
import { inOrder } from '../../talk/notes/imported-notes';
import { insertImportedSystemNotes, NoteRoom } from '../../talk/notes/imported-note-rows';
import type { ImportedSystemNote, NotesImport } from '../../talk/notes/imported-note-rows';
import { systemNotes } from '../../talk/notes/system-notes';

type Given = ImportedObject<'issue_event'>;

/** Rows of the changes of one kind of noteables. */
interface ChangeRows {
  readonly states: ImportedState[];
  readonly labellings: ImportedLabelling[];
  readonly milestones: ImportedMilestoneChange[];
  readonly notes: ImportedSystemNote[];
}

/** Ids by the names that changes use. */
interface Names {
  readonly labels: ReadonlyMap<string, number>;
  readonly milestones: ReadonlyMap<string, number>;
}

/**
 * Adds changes of imported issues or merge requests as resource events and system notes; those of others are left out. The
 * issues and merge requests stay as they are. Publishes no event. Returns changes whose label or milestone does not exist, and those whose
 * noteable was not imported. Source: reference identity-and-import 6.6.
 */
export async function importChanges(
  tx: Tx,
  project: ProjectFacts,
  notesImport: NotesImport,
  objects: readonly Given[],
): Promise<readonly UnimportedObject[]> {
  const { on, kind, projectId } = notesImport;
  const of = { project: projectId, kind: 'issue_event' } as const;
  const own = objects.flatMap((object, index) => (object[on] === null ? [] : [{ object, index }]));
  const found = inOrder(await newObjects(tx, of, own, ({ id }) => id));
  const numbers = found.map(({ object }) => object[on]!);
  const noteables = await findImported(tx, { project: projectId, kind: on }, numbers);
  // Also keeps the noteables until the end of the transaction.
  await NoteRoom.lock(tx, notesImport, [...noteables.values()]);
  const names = await namesOf(tx, project, found);
  const rows: ChangeRows = { states: [], labellings: [], milestones: [], notes: [] };
  const problems: UnimportedObject[] = [];
  const added: { readonly upstreamId: number; readonly id: number }[] = [];
  for (const { index, object } of found) {
    const id = noteables.get(object[on]!);
    const message = id === undefined ? 'Its object was not imported.' : addRow(rows, names, id, object);
    if (message === null) added.push({ upstreamId: object.id, id: id! });
    else problems.push({ index, message });
  }
  await addImportedStates(tx, kind, projectId, rows.states);
  await addImportedLabellings(tx, kind, project, rows.labellings);
  await addImportedMilestoneChanges(tx, kind, project, rows.milestones);
  await insertImportedSystemNotes(tx, notesImport, rows.notes);
  await addImported(tx, of, added);
  return problems;
}

async function namesOf(tx: Tx, project: ProjectFacts, found: readonly CheckedObject<Given>[]): Promise<Names> {
  const namesOf = (...changes: readonly Given['change'][]): string[] =>
    found.flatMap(({ object: { change, name } }) => (changes.includes(change) && name !== null ? [name] : []));
  return {
    labels: await labelIdsOf(tx, project, namesOf('label_added', 'label_removed')),
    milestones: await milestoneIdsOf(tx, project, namesOf('milestone_added', 'milestone_removed')),
  };
}

/** Adds the row of a change. Shape: the reason if it cannot be added, and null otherwise. */
function addRow(rows: ChangeRows, { labels, milestones }: Names, noteable_id: number, given: Given): string | null {
  const { change, created_at, author_id: user_id } = given;
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
  const body = quoteMentions(textOf(change, name, given.before ?? ''));
  rows.notes.push({ noteable_id, author_id: user_id, body, created_at });
  return null;
}

type NoteChange = Extract<Given['change'], `${string}assigned` | `review${string}` | 'renamed' | 'mentioned'>;

function textOf(change: NoteChange, name: string, before: string): string {
  if (change === 'renamed') return systemNotes.title(before, name);
  if (change === 'assigned') return systemNotes.assignees([name], [])!;
  if (change === 'unassigned') return systemNotes.assignees([], [name])!;
  if (change === 'review_requested') return systemNotes.reviewers([name], [])!;
  if (change === 'review_request_removed') return systemNotes.reviewers([], [name])!;
  return `mentioned in ${name.startsWith('!') ? 'merge request' : 'issue'} ${name}`;
}
