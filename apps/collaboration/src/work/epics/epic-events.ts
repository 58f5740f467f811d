import { epicEvents } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { renderDescriptionChangeNotes } from '../issues/issue-change';
import type { LabelChange } from '../../planning/labels/labelling/labelling';
import { systemNotes } from '../../talk/notes/system-notes';
import type { Epic } from './epic.entity';
import { epicKind } from './epic.kind';

/** A change of an epic: its previous state, the columns that differ now, and its labels. */
export interface EpicChange {
  readonly before: Epic;
  readonly changed: ReadonlySet<keyof Epic>;
  readonly labels: LabelChange;
  readonly at: Date;
}

/** Returns the system notes for a change. Source: reference work-tracking 2.7. */
export function renderEpicSystemNotes(epic: Epic, { before, changed }: EpicChange): string[] {
  return [
    ...(changed.has('title') ? [systemNotes.title(before.title, epic.title)] : []),
    ...(changed.has('description') ? renderDescriptionChangeNotes(before.description, epic.description) : []),
    ...(changed.has('confidential') ? [systemNotes.confidential(epic.confidential, epicKind.word)] : []),
    ...(changed.has('state') ? [epic.state === 'closed' ? systemNotes.closed : systemNotes.reopened] : []),
  ];
}

/** Emits that an epic was opened. */
export function emitEpicCreated(tx: Tx, viewer: SignedInViewer, epic: Epic, labels: LabelChange): void {
  const data = { ...epicEventData(epic), assignee_ids: [], label_ids: [...labels.added] };
  tx.emit(epicEvents.created.of({ ...eventEnvelopeFields(viewer, epic), data }));
}

/** Emits a change: one event for fields and labels, one for the state. `mentionedBefore` are ids of users. */
export function emitEpicChange(
  tx: Tx,
  viewer: SignedInViewer,
  epic: Epic,
  { changed, labels, at, mentionedBefore }: EpicChange & { readonly mentionedBefore: readonly number[] },
): void {
  const data = epicEventData(epic);
  const about = eventEnvelopeFields(viewer, epic);
  const otherFields = [...changed].filter((name) => !['state', 'closedAt', 'closedById'].includes(name));
  if (otherFields.length + labels.added.length + labels.removed.length > 0) {
    const changeData = {
      text_changed: changed.has('title') || changed.has('description'),
      mentioned_before: [...mentionedBefore],
      added_assignee_ids: [],
      removed_assignee_ids: [],
      added_label_ids: [...labels.added],
      removed_label_ids: [...labels.removed],
      changed_at: at.toISOString(),
    };
    tx.emit(epicEvents.updated.of({ ...about, data: { ...data, ...changeData } }));
  }
  if (!changed.has('state')) return;
  const event =
    epic.state === 'closed'
      ? epicEvents.closed.of({ ...about, data: { ...data, closed_at: at.toISOString() } })
      : epicEvents.reopened.of({ ...about, data: { ...data, reopened_at: at.toISOString() } });
  tx.emit(event);
}

/** Event that an epic got another parent or none, for changes of the tree alone. */
export function createEpicParentChangedEvent(viewer: SignedInViewer, epic: Epic, at: Date) {
  const labels = { added_label_ids: [], removed_label_ids: [] };
  const people = { mentioned_before: [], added_assignee_ids: [], removed_assignee_ids: [] };
  const changeData = { text_changed: false, ...people, ...labels, changed_at: at.toISOString() };
  return { ...eventEnvelopeFields(viewer, epic), data: { ...epicEventData(epic), ...changeData } };
}

function eventEnvelopeFields(viewer: SignedInViewer, { id }: Epic) {
  return { aggregateId: id, actorId: viewer.userId, seen: viewer.directory };
}

/** Data that every event on an epic has. */
function epicEventData({ id, iid, groupId, authorId, confidential, createdAt }: Epic) {
  const ids = { epic_id: id, epic_iid: iid, project_id: null, group_id: groupId };
  return { ...ids, author_id: authorId, confidential, created_at: createdAt.toISOString() };
}
