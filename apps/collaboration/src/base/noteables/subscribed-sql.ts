import type { NoteableType } from '@rookery/contracts';
import type { AssigneesOfKind } from './noteable-kinds';

/** Fields of a noteable kind that the SQL for subscribers needs. */
export interface FollowedKind {
  readonly type: NoteableType;
  readonly assignees: Pick<AssigneesOfKind, 'ofSql'> | null;
  readonly reviewers?: Pick<AssigneesOfKind, 'ofSql'>;
}

/**
 * Subquery for a user's explicit subscription (true or false) to a noteable; null if there is none. `id` and `user` are
 * SQL expressions.
 */
export function explicitSubscriptionSql(type: NoteableType, id: string, user: string): string {
  return `(select s.subscribed from subscriptions s where s.noteable_id = ${id} and s.noteable_type = '${type}'
      and s.user_id = ${user})`;
}

/**
 * Boolean SQL: is a user subscribed to the row `i`? An explicit subscription decides, else participation: the author,
 * assignees, reviewers, authors of notes on it and mentioned users. Source: reference work-tracking 9.7.
 */
export function subscribedSql({ type, assignees, reviewers }: FollowedKind, user: string): string {
  const isAssignee = [assignees, reviewers]
    .flatMap((people) => (people ? [`or ${user} in ${people.ofSql('i.id')}`] : []))
    .join(' ');
  return `coalesce(${explicitSubscriptionSql(type, 'i.id', user)}, i.author_id = ${user} ${isAssignee}
    or exists (select 1 from participants p where p.noteable_id = i.id and p.noteable_type = '${type}'
      and p.user_id = ${user})
    or exists (select 1 from notes n where n.noteable_id = i.id and n.noteable_type = '${type}'
      and n.author_id = ${user} and not n.system), false)`;
}
