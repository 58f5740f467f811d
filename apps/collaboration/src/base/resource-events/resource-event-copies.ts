import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../noteables/noteable-kinds';

const OF_SOURCE = 'where noteable_type = $1 and noteable_id = $2::bigint order by id';
const copies = [
  prepareStatement(
    'resource_events_copy_states',
    `insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, state, created_at)
     select noteable_type, $3::bigint, $4::bigint, user_id, state, created_at from resource_state_events ${OF_SOURCE}`,
  ),
  prepareStatement(
    'resource_events_copy_weights',
    `insert into resource_weight_events (noteable_type, noteable_id, project_id, user_id, weight, created_at)
     select noteable_type, $3::bigint, $4::bigint, user_id, weight, created_at from resource_weight_events ${OF_SOURCE}`,
  ),
];

/** Copies state and weight events from one noteable to another of its kind. Source: reference work-tracking 9.1. */
export async function copyStateAndWeightEvents(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  o: { readonly from: number; readonly to: number; readonly projectId: number },
): Promise<void> {
  for (const copy of copies) await tx.prepared(copy, [type, o.from, o.to, o.projectId]);
}
