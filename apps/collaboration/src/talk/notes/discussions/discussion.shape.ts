import { json, jsonShape, textsSql } from '../../../base/noteables/json.shape';
import { noteShape } from '../note.shape';
import type { NoteSql } from '../note.shape';
import { discussionIdSql } from './threads-sql';

/** Shape: `readsInternal` is a boolean expression. */
export type DiscussionSql = NoteSql & { readonly readsInternal: string };

const OF_THREAD = `n.noteable_id = h.noteable_id and n.noteable_type = h.noteable_type
        and n.thread_id = h.thread_id`;

/** The notes of the discussion that `h` stands for: itself where it is alone, else its thread by the index of threads. */
export const notesOfDiscussionSql = ({ readsInternal }: Pick<DiscussionSql, 'readsInternal'>): string =>
  `from (select n.* from notes n where n.id = h.id and h.thread_id is null
      union all select n.* from notes n where ${OF_THREAD}) n
    left join directory_users a on a.id = n.author_id where not n.internal or ${readsInternal}`;

/** The bytes of the texts of a discussion, as lists weigh their pages. */
export const discussionBytes = ({ readsInternal }: Pick<DiscussionSql, 'readsInternal'>): string =>
  `case when h.thread_id is null then octet_length(h.body) else coalesce((select sum(octet_length(n.body)) from notes n
    where ${OF_THREAD} and (not n.internal or ${readsInternal})), 0) end`;

/** A note alone or a thread, over the note `h` that stands for it. Source: reference work-tracking 3.1. */
export const discussionShape = jsonShape<DiscussionSql>('Discussion').fields({
  id: [json.token, () => discussionIdSql('coalesce(h.thread_id, h.id)')],
  individual_note: [json.bool, () => 'h.thread_id is null'],
  notes: [
    json.list(noteShape),
    (sql) => textsSql(noteShape, { of: sql, from: notesOfDiscussionSql(sql) }, 'n.created_at, n.id'),
  ],
});
