import { createHash } from 'node:crypto';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';

/**
 * Join condition for the head `h` (notes) of a discussion of the noteable `i`. The head is an individual note, the
 * first note of a thread, or the oldest comment that is left of it. `key` is an SQL expression for the id of the note that
 * started the discussion.
 */
export function discussionHeadJoinSql({ type }: NoteableKind, key: string): string {
  return `h.id = coalesce((select r.id from notes r where r.noteable_id = i.id and r.noteable_type = '${type}'
        and r.thread_id = ${key} and not r.is_reply), ${key})
      and h.noteable_id = i.id and h.noteable_type = '${type}' and coalesce(h.thread_id, h.id) = ${key}`;
}

/**
 * Common table expression after a deletion of notes: the oldest remaining comment of a thread replaces a deleted head. A system
 * note is never the head, because discussions of system notes take no replies. `deletedNotes` has the columns id,
 * noteable_type, noteable_id, thread_id and is_reply of the deleted notes.
 */
export function promoteNextDiscussionHeadSql(deletedNotes: string): string {
  return `followed as (
      update notes n set is_reply = false
      from (select distinct on (r.thread_id) r.id from ${deletedNotes} g
        join notes r on r.noteable_id = g.noteable_id and r.noteable_type = g.noteable_type and r.thread_id = g.thread_id
        where g.thread_id is not null and not g.is_reply and not r.system
          and r.id not in (select d.id from ${deletedNotes} d)
        order by r.thread_id, r.created_at, r.id) next
      where n.id = next.id
    )`;
}

/**
 * Common table expressions after a deletion of notes: drops the places and the system notes of diff threads that have no
 * comment left. `deletedNotes` has the columns that `promoteNextDiscussionHeadSql` requires. Returns an empty text for
 * kinds without diff threads.
 */
export function deleteEmptyDiffThreadsSql(
  { abilities }: Pick<NoteableKind, 'abilities'>,
  deletedNotes: string,
): string {
  if (!abilities.includes('diff-threads')) return '';
  const isEmpty = `not exists (select 1 from notes r where r.noteable_id = g.noteable_id
          and r.noteable_type = g.noteable_type and r.thread_id = g.thread_id and not r.system
          and r.id not in (select d.id from ${deletedNotes} d))`;
  return `, unplaced as (
      delete from note_positions p using ${deletedNotes} g where p.thread_id = g.thread_id and ${isEmpty}
    ), orphaned as (
      delete from notes s using ${deletedNotes} g
      where s.noteable_id = g.noteable_id and s.noteable_type = g.noteable_type and s.thread_id = g.thread_id
        and s.system and s.id not in (select d.id from ${deletedNotes} d) and ${isEmpty}
      returning s.noteable_id
    )`;
}

/** Number of system notes that `deleteEmptyDiffThreadsSql` deletes from the noteable `i`. */
export function deletedThreadSystemNotesCountSql({ abilities }: Pick<NoteableKind, 'abilities'>): string {
  if (!abilities.includes('diff-threads')) return '0';
  return '(select count(*)::integer from orphaned o where o.noteable_id = i.id)';
}

const DIGEST_PREFIX = 'discussion ';
const DIGEST_LENGTH = 24;

/**
 * SQL for the id of a discussion in the API: 40 hex digits, made of a digest and the id of the note that started it. So
 * a discussion is found without a column and an index for this id. Returns a text expression; `key` is a bigint
 * expression. Source: reference work-tracking 3.1.
 */
export function discussionIdSql(key: string): string {
  return `left(encode(sha256(convert_to('${DIGEST_PREFIX}' || ${key}, 'UTF8')), 'hex'), ${DIGEST_LENGTH}) || lpad(to_hex(${key}), 16, '0')`;
}

/** Returns the id of the note that started a discussion, or 0, which no note has, if the text is not a discussion id. */
export function parseDiscussionKey(id: string): number {
  if (!/^[0-9a-f]{40}$/i.test(id)) return 0;
  const key = Number.parseInt(id.slice(DIGEST_LENGTH), 16);
  if (!Number.isSafeInteger(key)) return 0;
  const digest = createHash('sha256').update(`${DIGEST_PREFIX}${key}`).digest('hex').slice(0, DIGEST_LENGTH);
  return id.slice(0, DIGEST_LENGTH).toLowerCase() === digest ? key : 0;
}
