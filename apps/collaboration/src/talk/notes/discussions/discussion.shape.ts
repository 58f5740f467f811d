import { json, beginJsonShape, jsonTextsSql } from '../../../base/noteables/json.shape';
import type { JsonShape } from '../../../base/noteables/json.shape';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { noteBytesSql, noteShapeOf } from '../note.shape';
import type { NoteSql } from '../note.shape';
import { discussionIdSql } from './threads-sql';

/** SQL expressions for a discussion's JSON. `readsInternal` is a boolean expression. */
export type DiscussionSql = NoteSql & { readonly readsInternal: string };

const OF_THREAD = `n.noteable_id = h.noteable_id and n.noteable_type = h.noteable_type
        and n.thread_id = h.thread_id`;

/**
 * FROM item for the notes of the discussion with the head `h`: an individual note itself, or its thread, found by the
 * index of threads.
 */
export const notesOfDiscussionSql = ({ readsInternal }: Pick<DiscussionSql, 'readsInternal'>): string =>
  `from (select n.* from notes n where n.id = h.id and h.thread_id is null
      union all select n.* from notes n where ${OF_THREAD}) n
    left join directory_users a on a.id = n.author_id where not n.internal or ${readsInternal}`;

/** SQL for the bytes of the texts of a discussion, for the size limit of pages. */
export const discussionBytesSql = (
  kind: Pick<NoteableKind, 'abilities'>,
  { readsInternal }: Pick<DiscussionSql, 'readsInternal'>,
): string =>
  `case when h.thread_id is null then octet_length(h.body) else coalesce((select sum(${noteBytesSql(kind)}) from notes n
    where ${OF_THREAD} and (not n.internal or ${readsInternal})), 0) end`;

/** Creates the shape for a kind. The SQL uses the alias `h` for the head of the discussion. */
const createShape = (name: string, noteShape: JsonShape<NoteSql>): JsonShape<DiscussionSql> =>
  beginJsonShape<DiscussionSql>(name).fields({
    id: [json.token, () => discussionIdSql('coalesce(h.thread_id, h.id)')],
    individual_note: [json.bool, () => 'h.thread_id is null'],
    notes: [
      json.list(noteShape),
      (sql) => jsonTextsSql(noteShape, { of: sql, from: notesOfDiscussionSql(sql) }, 'n.created_at, n.id'),
    ],
  });

const discussionShape = createShape('Discussion', noteShapeOf({ abilities: [] }));
const placedDiscussionShape = createShape('PlacedDiscussion', noteShapeOf({ abilities: ['diff-threads'] }));
const diffDiscussionShape = createShape('DiffDiscussion', noteShapeOf({ abilities: ['diff-threads', 'suggestions'] }));

/** Shape of the discussions of a kind: individual notes and threads. Source: reference work-tracking 3.1. */
export function discussionShapeOf({ abilities }: Pick<NoteableKind, 'abilities'>): JsonShape<DiscussionSql> {
  if (abilities.includes('suggestions')) return diffDiscussionShape;
  return abilities.includes('diff-threads') ? placedDiscussionShape : discussionShape;
}
