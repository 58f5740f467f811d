import { NO_OBJECT } from '@rookery/git';
import type { RefUpdate } from '@rookery/git';

/** More refs of one kind and action than this are one event of a feed. Source: reference repositories 1.6. */
const MAX_SINGLE_REFS = 3;

type Change = Pick<RefUpdate, 'ref' | 'oldId' | 'newId'>;

type PushAction = 'created' | 'pushed' | 'removed';

function pushAction({ oldId, newId }: Pick<Change, 'oldId' | 'newId'>): PushAction {
  if (newId === NO_OBJECT) return 'removed';
  return oldId === NO_OBJECT ? 'created' : 'pushed';
}

/** Returns the type of a ref in feeds; null for refs that feeds do not show. */
function refType({ ref }: Pick<Change, 'ref'>): 'branch' | 'tag' | null {
  if (ref.startsWith('refs/heads/')) return 'branch';
  return ref.startsWith('refs/tags/') ? 'tag' : null;
}

/** Whether feeds show an update only as part of a bulk event. */
export function isBulk(update: Change, among: readonly Change[]): boolean {
  const isSame = (other: Change): boolean =>
    refType(other) === refType(update) && pushAction(other) === pushAction(update);
  return among.filter(isSame).length > MAX_SINGLE_REFS;
}
