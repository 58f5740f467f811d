import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind, projectIdSql } from './noteable-kinds';
import type { NoteableKind, NoteableKinds } from './noteable-kinds';

/** A noteable with its current texts, as effects read it. */
export interface NoteableSubject {
  readonly id: number;
  /** Null for noteables of groups. */
  readonly project_id: number | null;
  readonly title: string;
  readonly description: string | null;
  /** Last editor of the text, else the author of the noteable. */
  readonly title_by_id: number;
  readonly description_by_id: number;
}

const editorOrAuthorIdSql = ({ hasEditorColumns }: NoteableKind, column: string): string =>
  hasEditorColumns ? `coalesce(i.${column}, i.author_id)` : 'i.author_id';
const selectSubjects = cachePerNoteableKind((kind) =>
  prepareStatement(
    `${kind.table}_subjects`,
    `select i.id, ${projectIdSql(kind)} as project_id, i.title, i.description,
       ${editorOrAuthorIdSql(kind, 'title_edited_by_id')} as title_by_id, ${editorOrAuthorIdSql(kind, 'edited_by_id')} as description_by_id
     from ${kind.table} i where i.id = any($1::bigint[]) order by i.id for key share`,
  ),
);

/**
 * Reads noteables of one kind by id for an effect, with their current texts: events carry no texts (docs/architecture.md 3).
 * Deleted noteables are missing. The locks delay a deletion until the effect is committed, so that the deletion's own
 * effect finds the rows to drop.
 */
export async function readSubjects(
  tx: Tx,
  kind: NoteableKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NoteableSubject>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.prepared<NoteableSubject>(selectSubjects(kind), [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** An event on a noteable of any kind. */
export type AnyNoteableEvent = Parameters<typeof findActorId>[0] & {
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: number;
};

/**
 * Text of a noteable or note with its project and its author, whose permissions decide which users and noteables the text
 * may mention. The author of a text is its last editor, so the texts of one noteable can have different authors.
 */
export interface AuthoredText {
  readonly projectId: number | null;
  readonly authorId: number;
  readonly text: string;
}

/** Title and description of a noteable, each with its author. */
export function authoredTextsIn(subject: NoteableSubject): readonly AuthoredText[] {
  const { project_id: projectId, description } = subject;
  const title = { projectId, authorId: subject.title_by_id, text: subject.title };
  return description ? [title, { projectId, authorId: subject.description_by_id, text: description }] : [title];
}

/** Returns the events of one kind whose noteables still exist, and the current texts of each, in the same order. */
export async function readAuthoredTexts<E extends AnyNoteableEvent>(
  tx: Tx,
  kinds: NoteableKinds,
  events: readonly E[],
): Promise<{ readonly present: readonly E[]; readonly texts: readonly (readonly AuthoredText[])[] }> {
  if (events.length === 0) return { present: [], texts: [] };
  const ids = events.map((event) => event.aggregateId);
  const subjects = await readSubjects(tx, kinds.ofEvents(events), ids);
  const present = events.filter((event) => subjects.has(event.aggregateId));
  return { present, texts: present.map((event) => authoredTextsIn(subjects.get(event.aggregateId)!)) };
}

/** Units: milliseconds. Clocks of processes and database never differ by this much. */
const MISDATED_MS = 3_600_000;

/**
 * Returns the time of an event's cause. Prefers `stated`, the database's time in the payload, since effects of several
 * events are compared with the times of rows. A backdated or future-dated row yields the time of the event instead. Its
 * effects are then neither in the past nor at the top of every list for long. All times are in ISO 8601.
 */
export function resolveEventCauseTime(event: { readonly time: string }, stated: string): string {
  return Math.abs(Date.parse(event.time) - Date.parse(stated)) > MISDATED_MS ? event.time : stated;
}

/** User id of the actor, or of the author if a process acted. */
export function findActorId(event: {
  readonly actorId: number | null;
  readonly data: { readonly author_id: number };
}): number {
  return event.actorId ?? event.data.author_id;
}
