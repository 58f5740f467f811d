import { Refused } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

/** Maximum size of the texts that one request copies. Units: bytes. Source: reference work-tracking 9.1. */
const COPIED_BYTES = 64 * 1024 * 1024;

/**
 * Copied bytes that count as one note in the limit per minute, and bytes counted for each row in addition to its text.
 */
const COUNTED_BYTES = 64 * 1024;
const ROW_BYTES = 1024;

/** $1 kind, $2 noteable, $3 whether internal notes count. */
const selectWeight = prepareStatement(
  'notes_copied_bytes',
  `select coalesce(sum(octet_length(body)), 0)::bigint as bytes, count(*)::integer as rows from notes
   where noteable_type = $1 and noteable_id = $2::bigint and (not internal or $3::boolean)`,
);
/**
 * $1 kind, $2 source noteable, $3 whether internal notes are copied too, $4 target noteable, $5 its project. New ids keep the
 * order of the old ones, and a thread whose first note was deleted stays one thread.
 */
const insertCopies = prepareStatement(
  'notes_copy',
  `with own as materialized (
     select n.*, nextval(pg_get_serial_sequence('notes', 'id')) as new_id from (
       select * from notes where noteable_type = $1 and noteable_id = $2::bigint and (not internal or $3::boolean)
       order by id) n
   ), thread as materialized (
     select t.thread_id, coalesce((select o.new_id from own o where o.id = t.thread_id),
       nextval(pg_get_serial_sequence('notes', 'id'))) as new_id
     from (select distinct thread_id from own where thread_id is not null) t
   ), written as (
     insert into notes (id, noteable_type, noteable_id, project_id, author_id, edited_by_id, body, system, internal, imported_from,
       thread_id, is_reply, resolved_at, resolved_by_id, referenced_type, referenced_id, created_at, updated_at)
     select o.new_id, o.noteable_type, $4::bigint, $5::bigint, o.author_id, o.edited_by_id, o.body, o.system, o.internal,
       o.imported_from, t.new_id, o.is_reply, o.resolved_at, o.resolved_by_id, o.referenced_type, o.referenced_id,
       o.created_at, o.updated_at
     from own o left join thread t on t.thread_id = o.thread_id
   )
   select count(*) filter (where not system and not internal)::integer as public_count,
     count(*) filter (where internal)::integer as internal_count, count(*) filter (where system)::integer as system_count,
     coalesce(array_agg(id order by id) filter (where not system), '{}') as old_ids,
     coalesce(array_agg(new_id order by id) filter (where not system), '{}') as new_ids
   from own`,
);

/** Counts of copied notes and ids of copied comments. `oldIds` and `newIds` are in the same order. */
export interface CopiedNotes {
  readonly publicCount: number;
  readonly internalCount: number;
  readonly systemCount: number;
  readonly oldIds: readonly number[];
  readonly newIds: readonly number[];
}
export const NO_NOTES_COPIED: CopiedNotes = {
  publicCount: 0,
  internalCount: 0,
  systemCount: 0,
  oldIds: [],
  newIds: [],
};

/** Size of notes: bytes of their texts, and number of rows. */
export interface Weight {
  readonly bytes: number;
  readonly rows: number;
}

/**
 * Measures the notes that a copy of a noteable would copy. Errors: Refused when they are too large. Source: reference
 * work-tracking 9.1.
 */
export async function measureNotesToCopy(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  o: { readonly from: number; readonly withInternal: boolean },
): Promise<Weight> {
  const [row] = await tx.prepared<Weight>(selectWeight, [type, o.from, o.withInternal]);
  const weight = { bytes: Number(row!.bytes), rows: row!.rows };
  if (weight.bytes > COPIED_BYTES) throw new Refused('Notes are too large to be copied (maximum is 64 MiB)');
  return weight;
}

/** Number of notes that a copy counts as in the limit per minute. Source: reference work-tracking 2.5. */
export function noteLimitCostOfCopy({ bytes, rows }: Weight): number {
  return Math.max(1, Math.ceil((bytes + rows * ROW_BYTES) / COUNTED_BYTES));
}

/**
 * Copies the notes of a noteable to another of the same kind, with their authors, threads and times. Publishes no event,
 * because the notes are not new. The caller has checked their size with `measureNotesToCopy`. Source: reference work-tracking 9.1.
 */
export async function copyNotes(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  o: { readonly from: number; readonly to: number; readonly projectId: number; readonly withInternal: boolean },
): Promise<CopiedNotes> {
  interface Row {
    readonly public_count: number;
    readonly internal_count: number;
    readonly system_count: number;
    readonly old_ids: readonly number[];
    readonly new_ids: readonly number[];
  }
  const [row] = await tx.prepared<Row>(insertCopies, [type, o.from, o.withInternal, o.to, o.projectId]);
  return {
    publicCount: row!.public_count,
    internalCount: row!.internal_count,
    systemCount: row!.system_count,
    oldIds: row!.old_ids,
    newIds: row!.new_ids,
  };
}
