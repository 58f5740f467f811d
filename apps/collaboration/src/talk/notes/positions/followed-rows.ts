import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { ResolvedNote } from '../note.entity';
import type { PositionFields } from './position-rows';

/** New place of a diff thread. `change` is set if the thread is outdated; its position stays then. */
export interface FollowedPosition {
  readonly threadId: number;
  readonly shown: PositionFields;
  readonly change: PositionFields | null;
  readonly lineCode: string | null;
  readonly oldPath: string;
  readonly newPath: string;
}

/** A suggestion whose lines were read again. */
export interface FollowedSuggestion {
  readonly id: number;
  readonly isOutdated: boolean;
}

interface MovedPositionsParams {
  readonly threads: readonly number[];
  readonly shown: readonly string[];
  readonly changes: readonly (string | null)[];
  readonly codes: readonly (string | null)[];
  readonly old_paths: readonly string[];
  readonly new_paths: readonly string[];
}
const movePositions = statement<MovedPositionsParams, { readonly thread_id: number; readonly is_active: boolean }>(
  'note_positions_move',
  `update note_positions p set shown = m.shown::json, change = m.change::json, line_code = m.code, old_path = m.old_path,
     new_path = m.new_path, is_active = m.change is null
   from unnest(:threads::bigint[], :shown::text[], :changes::text[], :codes::text[], :old_paths::text[], :new_paths::text[])
     as m (thread_id, shown, change, code, old_path, new_path)
   where p.thread_id = m.thread_id and p.is_active returning p.thread_id, p.is_active`,
);
const markOutdated = statement<{ ids: readonly number[]; outdated: readonly boolean[] }, never>(
  'suggestions_mark_outdated',
  `update suggestions s set is_outdated = m.is_outdated
   from unnest(:ids::bigint[], :outdated::boolean[]) as m (id, is_outdated)
   where s.id = m.id and s.is_outdated <> m.is_outdated and s.commit_id is null`,
);
const applySuggestions = statement<{ ids: readonly number[]; commit: string }, never>(
  'suggestions_apply',
  'update suggestions set commit_id = :commit where id = any(:ids::bigint[]) and commit_id is null',
);
const resolveNotesOfThreads = statement<
  { threads: readonly number[]; noteable: number; type: string; actor: number },
  ResolvedNote
>(
  'notes_resolve_threads',
  `update notes n set resolved_at = now(), resolved_by_id = :actor::bigint, updated_at = greatest(n.updated_at, now())
   where n.noteable_id = :noteable::bigint and n.noteable_type = :type and n.thread_id = any(:threads::bigint[])
     and not n.system and n.resolved_at is null returning n.id, n.internal`,
);

/** Moves diff threads to their new places. Returns the ids of the threads that became outdated. */
export async function moveNotePositions(tx: Tx, moved: readonly FollowedPosition[]): Promise<number[]> {
  if (moved.length === 0) return [];
  const rows = await tx.run(movePositions, {
    threads: moved.map((one) => one.threadId),
    shown: moved.map((one) => JSON.stringify(one.shown)),
    changes: moved.map((one) => (one.change === null ? null : JSON.stringify(one.change))),
    codes: moved.map((one) => one.lineCode),
    old_paths: moved.map((one) => one.oldPath),
    new_paths: moved.map((one) => one.newPath),
  });
  return rows.filter((row) => !row.is_active).map((row) => row.thread_id);
}

/** Stores whether the lines of suggestions still are what they replace. */
export async function updateSuggestionsOutdated(tx: Tx, read: readonly FollowedSuggestion[]): Promise<void> {
  if (read.length === 0) return;
  await tx.run(markOutdated, { ids: read.map(({ id }) => id), outdated: read.map((one) => one.isOutdated) });
}

/** Resolves threads of a noteable that are open. Returns their notes. */
export async function resolveThreads(
  tx: Tx,
  on: { readonly noteable: number; readonly type: string },
  threads: readonly number[],
  actor: number,
): Promise<readonly ResolvedNote[]> {
  return threads.length === 0 ? [] : tx.run(resolveNotesOfThreads, { ...on, threads, actor });
}

/** Marks suggestions as applied by a commit. */
export async function markSuggestionsApplied(tx: Tx, ids: readonly number[], commit: string): Promise<void> {
  await tx.run(applySuggestions, { ids, commit });
}
