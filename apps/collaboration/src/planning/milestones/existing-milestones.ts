import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

const lockExistingMilestones = statement<{ ids: readonly number[] }, { readonly id: number }>(
  'milestones_present',
  'select id from milestones where id = any(:ids::bigint[]) order by id for key share',
);

/**
 * Returns the milestones that still exist. The locks delay a deletion until the effect is committed, so that the
 * deletion's own effect finds the rows to drop.
 */
export async function lockExistingMilestoneIds(tx: Tx, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await tx.run(lockExistingMilestones, { ids: [...new Set(ids)] });
  return new Set(rows.map(({ id }) => id));
}
