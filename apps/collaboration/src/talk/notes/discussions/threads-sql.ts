import { createHash } from 'node:crypto';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';

/**
 * What stands for a discussion: a note alone, the first note of a thread, or the oldest that is left of it.
 * Shape: a join condition for the alias `h` of notes, over the noteable `i`; `key` is the id of the note that it began with.
 */
export function headSql({ type }: NoteableKind, key: string): string {
  return `h.id = coalesce((select r.id from notes r where r.noteable_id = i.id and r.noteable_type = '${type}'
        and r.thread_id = ${key} and not r.is_reply), ${key})
      and h.noteable_id = i.id and h.noteable_type = '${type}' and coalesce(h.thread_id, h.id) = ${key}`;
}

/**
 * Common table expressions after a deletion of notes: where one stood for its thread, the oldest that is left does now.
 * Shape: `gone` has the columns id, noteable_type, noteable_id, thread_id and is_reply of what was deleted.
 */
export function followedSql(gone: string): string {
  return `followed as (
      update notes n set is_reply = false
      from (select distinct on (r.thread_id) r.id from ${gone} g
        join notes r on r.noteable_id = g.noteable_id and r.noteable_type = g.noteable_type and r.thread_id = g.thread_id
        where g.thread_id is not null and not g.is_reply and r.id not in (select d.id from ${gone} d)
        order by r.thread_id, r.created_at, r.id) next
      where n.id = next.id
    )`;
}

const SAID = 'discussion ';
const DIGEST_LENGTH = 24;

/**
 * The id that clients know a discussion by: 40 hex digits, a digest and the id of the note that it began with. So it is
 * found without a column and without an index of its own. Shape: a text expression; `key` is a bigint expression.
 * Source: reference work-tracking 3.1.
 */
export function discussionIdSql(key: string): string {
  return `left(encode(sha256(convert_to('${SAID}' || ${key}, 'UTF8')), 'hex'), ${DIGEST_LENGTH}) || lpad(to_hex(${key}), 16, '0')`;
}

/** The note that a discussion began with; 0, which no note has, for a text that is no such id. */
export function discussionKeyOf(id: string): number {
  if (!/^[0-9a-f]{40}$/i.test(id)) return 0;
  const key = Number.parseInt(id.slice(DIGEST_LENGTH), 16);
  if (!Number.isSafeInteger(key)) return 0;
  const digest = createHash('sha256').update(`${SAID}${key}`).digest('hex').slice(0, DIGEST_LENGTH);
  return id.slice(0, DIGEST_LENGTH).toLowerCase() === digest ? key : 0;
}
