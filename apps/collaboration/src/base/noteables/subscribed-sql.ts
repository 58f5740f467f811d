import type { NoteableType } from '@rookery/contracts';
import type { AssigneesOfKind } from './noteable-kinds';

/** What must be known of a kind to tell who follows its things. */
export interface FollowedKind {
  readonly type: NoteableType;
  readonly assignees: Pick<AssigneesOfKind, 'ofSql'> | null;
}

/** A subquery: what a person said of following the thing; null when they said nothing. Shape: SQL expressions. */
export function saidSql(type: NoteableType, thing: string, user: string): string {
  return `(select s.subscribed from subscriptions s where s.noteable_id = ${thing} and s.noteable_type = '${type}'
      and s.user_id = ${user})`;
}

/**
 * Boolean SQL: does a person follow the row `i`? What they said counts, else whether they take part: who wrote it, works on
 * it, wrote a note on it or was named there. Source: reference work-tracking 9.7.
 */
export function subscribedSql({ type, assignees }: FollowedKind, user: string): string {
  const works = assignees ? `or ${user} in ${assignees.ofSql('i.id')}` : '';
  return `coalesce(${saidSql(type, 'i.id', user)}, i.author_id = ${user} ${works}
    or exists (select 1 from participants p where p.noteable_id = i.id and p.noteable_type = '${type}'
      and p.user_id = ${user})
    or exists (select 1 from notes n where n.noteable_id = i.id and n.noteable_type = '${type}'
      and n.author_id = ${user} and not n.system), false)`;
}
