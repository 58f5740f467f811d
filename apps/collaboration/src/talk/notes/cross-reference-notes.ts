import type { NoteableType } from '@rookery/contracts';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { lockNoteables } from '../../base/noteables/noteable-locks';
import { cachePerNoteableKind } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

/** Reference from one noteable to another, to be recorded on the referenced one. */
export interface CrossReference {
  readonly noteableId: number;
  /** Null for noteables of groups. */
  readonly projectId: number | null;
  readonly actorId: number;
  /** Source of the reference: `issue #7`, `merge request group/project!7`, `commit <sha>`. */
  readonly text: string;
  /** Null for a commit. */
  readonly from: { readonly type: NoteableType; readonly id: number } | null;
  /** ISO 8601. */
  readonly at: string;
}

/** Unique indexes prevent duplicate notes for the same pair of noteables, and for the same commit. */
const insertReferenceNotes = cachePerNoteableKind(({ table, type, writes }) =>
  prepareStatement(
    `${table}_write_references`,
    `with written as (
      insert into notes (noteable_type, noteable_id, project_id, author_id, body, system, referenced_type, referenced_id,
        imported_from, created_at, updated_at)
      select '${type}', r.noteable_id, r.project_id, r.actor_id, 'mentioned in ' || r.text, true, r.from_type, r.from_id,
        $8::text, r.at, r.at
      from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[])
        with ordinality as r (noteable_id, project_id, actor_id, text, from_type, from_id, at, place)
      order by r.place
      on conflict do nothing
      returning noteable_id
    )
    ${writes.update} system_notes_count = i.system_notes_count + w.count
    from (select noteable_id, count(*)::integer as count from written group by noteable_id) w where i.id = w.noteable_id`,
  ),
);

/**
 * Writes system notes on noteables of one kind for the references to them. `importedFrom` is the kind of the upstream
 * host of imported references. Source: reference work-tracking 2.7.
 */
export async function writeCrossReferenceNotes(
  tx: Tx,
  kind: NoteableKind,
  references: readonly CrossReference[],
  importedFrom = 'none',
): Promise<void> {
  if (references.length === 0) return;
  const ids = references.map((one) => one.noteableId);
  await lockNoteables(tx, kind, ids);
  await tx.prepared(insertReferenceNotes(kind), [
    ids,
    references.map((one) => one.projectId),
    references.map((one) => one.actorId),
    references.map((one) => one.text),
    references.map((one) => one.from?.type ?? null),
    references.map((one) => one.from?.id ?? null),
    references.map((one) => one.at),
    importedFrom,
  ]);
}
