import { NO_OBJECT } from '@rookery/git';
import type { RefUpdate } from '@rookery/git';

/** More refs of one kind and action than this are one event of a feed. Source: reference repositories 1.6. */
const MAX_SINGLE_REFS = 3;

type ChangedRef = Pick<RefUpdate, 'ref' | 'oldId' | 'newId'>;

type PushAction = 'created' | 'pushed' | 'removed';

function derivePushAction({ oldId, newId }: Pick<ChangedRef, 'oldId' | 'newId'>): PushAction {
  if (newId === NO_OBJECT) return 'removed';
  return oldId === NO_OBJECT ? 'created' : 'pushed';
}

/** Returns the type of a ref in feeds; null for refs that feeds do not show. */
function refType({ ref }: Pick<ChangedRef, 'ref'>): 'branch' | 'tag' | null {
  if (ref.startsWith('refs/heads/')) return 'branch';
  return ref.startsWith('refs/tags/') ? 'tag' : null;
}

/** Whether feeds show an update only as part of a bulk event. */
export function isPartOfBulkPush(update: ChangedRef, among: readonly ChangedRef[]): boolean {
  const isSame = (other: ChangedRef): boolean =>
    refType(other) === refType(update) && derivePushAction(other) === derivePushAction(update);
  return among.filter(isSame).length > MAX_SINGLE_REFS;
}
