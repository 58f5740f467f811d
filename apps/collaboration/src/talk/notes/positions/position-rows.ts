import type { NoteableType } from '@rookery/contracts';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { PositionType } from './note-position.entity';

/** Place of a thread in a diff, in the form that the API shows and that is stored as JSON. */
export interface PositionFields {
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
  readonly old_path: string | null;
  readonly new_path: string | null;
  readonly position_type: PositionType;
  readonly old_line?: number | null;
  readonly new_line?: number | null;
  readonly line_range?: object | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly x?: number | null;
  readonly y?: number | null;
}

/** Place of a new thread. The paths are those of the file in the diff of `shown`. */
export interface NewPosition {
  readonly shown: PositionFields;
  readonly original: PositionFields;
  readonly lineCode: string | null;
  readonly commitId: string | null;
  readonly oldPath: string;
  readonly newPath: string;
  readonly isActive: boolean;
}

/**
 * Suggestion of a note. It also replaces `linesAbove` lines above and `linesBelow` lines below the line of the thread.
 */
export interface NewSuggestion {
  readonly linesAbove: number;
  readonly linesBelow: number;
  readonly fromContent: string;
  readonly toContent: string;
}

interface NewPositionParams {
  readonly thread: number;
  readonly type: NoteableType;
  readonly noteable: number;
  readonly position_type: string;
  readonly shown: string;
  readonly original: string;
  readonly line_code: string | null;
  readonly commit: string | null;
  readonly old_path: string;
  readonly new_path: string;
  readonly is_active: boolean;
}
const insertPosition = statement<NewPositionParams, never>(
  'note_positions_insert',
  `insert into note_positions (thread_id, noteable_type, noteable_id, position_type, shown, original, line_code, commit_id,
     old_path, new_path, is_active)
   values (:thread::bigint, :type, :noteable::bigint, :position_type, :shown::json, :original::json, :line_code, :commit,
     :old_path, :new_path, :is_active::boolean)`,
);

/** Applied suggestions stay when their note is edited. */
const dropUnapplied = statement<{ note: number }, never>(
  'suggestions_drop_unapplied',
  'delete from suggestions where note_id = :note::bigint and commit_id is null',
);
interface SuggestionsParams {
  readonly note: number;
  readonly above: readonly number[];
  readonly below: readonly number[];
  readonly from: readonly string[];
  readonly to: readonly string[];
}
const insertSuggestions = statement<SuggestionsParams, never>(
  'suggestions_insert',
  `insert into suggestions (note_id, relative_order, lines_above, lines_below, from_content, to_content)
   select :note::bigint, s.place, s.above, s.below, s.old, s.new
   from unnest(:above::integer[], :below::integer[], :from::text[], :to::text[])
     with ordinality as s (above, below, old, new, place) order by s.place`,
);

/** Writes the place of a new thread. `threadId` is the id of its first note. */
export async function insertNotePosition(
  tx: Tx,
  on: { readonly threadId: number; readonly noteableType: NoteableType; readonly noteableId: number },
  position: NewPosition,
): Promise<void> {
  const { shown, original, lineCode, commitId, oldPath, newPath, isActive } = position;
  await tx.run(insertPosition, {
    ...{ thread: on.threadId, type: on.noteableType, noteable: on.noteableId, position_type: shown.position_type },
    ...{ shown: JSON.stringify(shown), original: JSON.stringify(original), line_code: lineCode, commit: commitId },
    ...{ old_path: oldPath, new_path: newPath, is_active: isActive },
  });
}

/** Writes the suggestions of a note in the place of those that it had and that were not applied. */
export async function replaceSuggestions(tx: Tx, noteId: number, suggestions: readonly NewSuggestion[]): Promise<void> {
  await tx.run(dropUnapplied, { note: noteId });
  if (suggestions.length === 0) return;
  await tx.run(insertSuggestions, {
    note: noteId,
    above: suggestions.map((one) => one.linesAbove),
    below: suggestions.map((one) => one.linesBelow),
    from: suggestions.map((one) => one.fromContent),
    to: suggestions.map((one) => one.toContent),
  });
}
