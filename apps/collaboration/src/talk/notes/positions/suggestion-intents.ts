import { statement } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';

/** A suggestion that a commit applies, and its thread. */
export interface IntendedSuggestion {
  readonly suggestion_id: number;
  readonly commit_id: string;
  readonly thread_id: number;
  readonly noteable_id: number;
  readonly project_id: number;
}

const insertIntents = statement<{ commit: string; ids: readonly number[] }, never>(
  'suggestion_intents_note',
  `insert into suggestion_intents (commit_id, suggestion_id) select :commit, unnest(:ids::bigint[]) on conflict do nothing`,
);
const selectIntentsOfCommits = statement<{ commits: readonly string[] }, IntendedSuggestion>(
  'suggestion_intents_of_commits',
  `select t.suggestion_id, t.commit_id, n.thread_id, n.noteable_id, n.project_id from suggestion_intents t
   join suggestions s on s.id = t.suggestion_id join notes n on n.id = s.note_id
   where t.commit_id = any(:commits::text[]) and s.commit_id is null order by t.suggestion_id`,
);
const deleteIntents = statement<{ ids: readonly number[] }, never>(
  'suggestion_intents_forget',
  'delete from suggestion_intents where suggestion_id = any(:ids::bigint[])',
);

/** Notes that a commit applies suggestions. The commit counts only when its branch has moved. */
export async function recordSuggestionIntents(db: SqlReader, commit: string, ids: readonly number[]): Promise<void> {
  await db.run(insertIntents, { commit, ids });
}

/** Returns the suggestions that commits apply, and that are not applied yet. */
export function findIntendedSuggestions(db: SqlReader, commits: readonly string[]): Promise<IntendedSuggestion[]> {
  return db.run(selectIntentsOfCommits, { commits });
}

/** Drops the notes about suggestions that are settled. */
export async function deleteSuggestionIntents(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run(deleteIntents, { ids });
}
