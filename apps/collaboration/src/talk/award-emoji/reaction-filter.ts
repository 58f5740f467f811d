import type { NoteableType } from '@rookery/contracts';
import type { Bind } from '@rookery/persistence';
import { canonicalEmojiName } from './emoji-names';

/**
 * Condition on a row `i`: the caller awarded it this emoji, any emoji (`Any`) or none (`None`). `viewer` is an SQL
 * expression, null for an anonymous caller, who has awarded none. Source: reference work-tracking 9.1.
 */
export function reactionFilterSql(type: NoteableType, viewer: string, name: string, bind: Bind): string {
  const awards = `select 1 from award_emoji w where w.user_id = ${viewer} and w.noteable_id = i.id
    and w.noteable_type = '${type}' and w.awardable_type = '${type}'`;
  if (/^any$/i.test(name)) return `exists (${awards})`;
  if (/^none$/i.test(name)) return `(not exists (${awards}))`;
  return `exists (${awards} and w.name = ${bind(canonicalEmojiName(name) ?? '')})`;
}
