import type { NoteableType } from '@rookery/contracts';
import type { Bind } from '@rookery/persistence';
import { emojiNamed } from './emoji-names';

/**
 * A condition on a row `i`: the caller gave it this emoji, `Any`, or `None`. Shape: `viewer` is an SQL expression; it may
 * be null, who gave nothing. Source: reference work-tracking 9.1.
 */
export function reactedSql(type: NoteableType, viewer: string, name: string, bind: Bind): string {
  const given = `select 1 from award_emoji w where w.user_id = ${viewer} and w.noteable_id = i.id
    and w.noteable_type = '${type}' and w.awardable_type = '${type}'`;
  if (/^any$/i.test(name)) return `exists (${given})`;
  if (/^none$/i.test(name)) return `(not exists (${given}))`;
  return `exists (${given} and w.name = ${bind(emojiNamed(name) ?? '')})`;
}
