import { accessRequestChanged } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import type { MemberSource } from '../listing/member-source';

/** Publishes the new state of an access request when the transaction commits. */
export function emitAccessRequest(
  tx: Tx,
  request: { readonly id: number; readonly userId: number },
  source: Pick<MemberSource, 'kind' | 'id'>,
  change: {
    readonly state: 'requested' | 'accepted' | 'denied' | 'withdrawn';
    readonly actorId: number;
    readonly at: Date;
  },
): void {
  const data = {
    user_id: request.userId,
    source_type: source.kind,
    source_id: source.id,
    state: change.state,
    changed_at: change.at.toISOString(),
  };
  tx.emit(accessRequestChanged.of({ aggregateId: request.id, actorId: change.actorId, data }));
}
