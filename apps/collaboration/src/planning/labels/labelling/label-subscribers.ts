import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

const subscribers = prepareStatement(
  'labels_subscribers',
  'select label_id, user_id from label_subscriptions where label_id = any($1::bigint[]) order by user_id',
);

/**
 * Returns the ids of the subscribers of labels: one list of users for each list of labels. Each user is in a list once.
 */
export async function findLabelSubscribers(tx: Tx, lists: readonly (readonly number[])[]): Promise<number[][]> {
  const ids = [...new Set(lists.flat())];
  if (ids.length === 0) return lists.map(() => []);
  const rows = await tx.prepared<{ label_id: number; user_id: number }>(subscribers, [ids]);
  return lists.map((labels) => [
    ...new Set(rows.filter((row) => labels.includes(row.label_id)).map((row) => row.user_id)),
  ]);
}
