import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

const insertCopies = prepareStatement(
  'subscriptions_copy',
  `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed, created_at)
   select noteable_type, $3::bigint, user_id, $4::bigint, subscribed, created_at
   from subscriptions where noteable_type = $1 and noteable_id = $2::bigint
   order by user_id`,
);

/** Copies subscriptions and unsubscriptions of a noteable to another one of its kind. */
export async function copySubscriptions(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  o: { readonly from: number; readonly to: number; readonly projectId: number },
): Promise<void> {
  await tx.prepared(insertCopies, [type, o.from, o.to, o.projectId]);
}
