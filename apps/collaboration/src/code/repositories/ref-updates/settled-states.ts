import type { RefUpdateState } from './push.entity';

/** Update of a ref with its recorded state. */
export interface RecordedUpdate {
  readonly pushId: number;
  readonly oldId: string;
  readonly newId: string;
  readonly state: RefUpdateState;
}

/**
 * Decides which recorded updates of one ref happened, from its present value. The old id of each update that happened
 * is the new id of the one before, so the decision is exact even after later updates.
 * `updates` are ordered from the newest to the oldest. `currentId` is the value of the ref, zeros if it does not exist.
 * Returns the ids of pushes whose update happened.
 */
export function appliedPushIds(updates: readonly RecordedUpdate[], currentId: string): ReadonlySet<number> {
  const happened = new Set<number>();
  let value = currentId;
  for (const { pushId, oldId, newId, state } of updates) {
    if (state === 'refused' || (state === 'intended' && newId !== value)) continue;
    happened.add(pushId);
    value = oldId;
  }
  return happened;
}
