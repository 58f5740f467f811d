import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { perKind, projectIdSql } from './noteable-kinds';
import type { NoteableKind, NoteableKinds } from './noteable-kinds';

/** A thing that is talked about with its texts, as they are now. */
export interface NoteableSubject {
  readonly id: number;
  /** Null for things of groups. */
  readonly project_id: number | null;
  readonly title: string;
  readonly description: string | null;
  /** Who said what these say now: whoever changed them last, else the author. */
  readonly title_by_id: number;
  readonly description_by_id: number;
}

const saidBySql = ({ tellsEditors }: NoteableKind, editor: string): string =>
  tellsEditors ? `coalesce(i.${editor}, i.author_id)` : 'i.author_id';
const things = perKind((kind) =>
  prepared(
    `${kind.table}_subjects`,
    `select i.id, ${projectIdSql(kind)} as project_id, i.title, i.description,
       ${saidBySql(kind, 'title_edited_by_id')} as title_by_id, ${saidBySql(kind, 'edited_by_id')} as description_by_id
     from ${kind.table} i where i.id = any($1::bigint[]) order by i.id for key share`,
  ),
);

/**
 * What effects are about, things of one kind by id, read when they happen: events carry no texts (docs/architecture.md
 * 3). What is gone meanwhile is missing. The locks hold a deletion back until the effect is committed, so that the
 * deletion's own effect finds what to drop.
 */
export async function subjectsOf(
  tx: Tx,
  kind: NoteableKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NoteableSubject>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.prepared<NoteableSubject>(things(kind), [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** An event on a thing of any kind. */
export type ThingEvent = Parameters<typeof actorOf>[0] & {
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: number;
};

/**
 * What a thing or a note says, where it stands, and who said it: by whose rights it names others. Not always the author, and
 * not of all texts of a thing the same.
 */
export interface SaidText {
  readonly projectId: number | null;
  readonly authorId: number;
  readonly text: string;
}

/** The texts of a thing, each with whoever said it. */
export function saidIn(thing: NoteableSubject): readonly SaidText[] {
  const { project_id: projectId, description } = thing;
  const title = { projectId, authorId: thing.title_by_id, text: thing.title };
  return description ? [title, { projectId, authorId: thing.description_by_id, text: description }] : [title];
}

/** Of events of one kind those whose things are still there, and what each of these says now, in the same order. */
export async function textsOf<E extends ThingEvent>(
  tx: Tx,
  kinds: NoteableKinds,
  events: readonly E[],
): Promise<{ readonly present: readonly E[]; readonly texts: readonly (readonly SaidText[])[] }> {
  if (events.length === 0) return { present: [], texts: [] };
  const ids = events.map((event) => event.aggregateId);
  const things = await subjectsOf(tx, kinds.ofEvents(events), ids);
  const present = events.filter((event) => things.has(event.aggregateId));
  return { present, texts: present.map((event) => saidIn(things.get(event.aggregateId)!)) };
}

/** Units: milliseconds. Clocks of processes and database never differ as much. */
const MISDATED_MS = 3_600_000;

/**
 * When the cause of an effect happened, by the clock of the database where it says so: what follows from several
 * events is compared with the times of rows. A thing dated by hand has its effects now: neither in the past, nor in a
 * future that would hold them at the top of every list.
 * Shape: both ISO 8601; `stated` is the time that the event's payload carries.
 */
export function causedAt(event: { readonly time: string }, stated: string): string {
  return Math.abs(Date.parse(event.time) - Date.parse(stated)) > MISDATED_MS ? event.time : stated;
}

/** Who did it: the actor, or the author where a process acted. */
export function actorOf(event: {
  readonly actorId: number | null;
  readonly data: { readonly author_id: number };
}): number {
  return event.actorId ?? event.data.author_id;
}
