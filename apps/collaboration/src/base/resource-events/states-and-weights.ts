import type { NoteableType } from '@rookery/contracts';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { json } from '../noteables/json.shape';
import type { ResourceState } from './resource-event.entity';
import { changeShape, createAddRemoveEventSummaries, resourceEventShape } from './resource-events.shape';
import type { ResourceEvents, ResourceEventSql } from './resource-events.shape';

const insertStateEvent = prepareStatement(
  'resource_events_tell_state',
  `insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, created_at, state)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::timestamptz, $6)`,
);
const insertWeightEvent = prepareStatement(
  'resource_events_tell_weight',
  `insert into resource_weight_events (noteable_type, noteable_id, project_id, user_id, created_at, weight)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::timestamptz, $6::integer)`,
);

/** The noteable that changed. */
export interface ChangedNoteable {
  readonly type: NoteableType;
  readonly id: number;
  readonly projectId: number | null;
}
export interface ChangedBy {
  readonly actorId: number;
  readonly at: Date;
}

/** Records that a noteable was closed, merged or reopened. Source: reference work-tracking 2.8. */
export async function recordStateEvent(
  tx: Tx,
  noteable: ChangedNoteable,
  state: ResourceState,
  by: ChangedBy,
): Promise<void> {
  await tx.prepared(insertStateEvent, [noteable.type, noteable.id, noteable.projectId, by.actorId, by.at, state]);
}

/** Records a weight event: a noteable got a new weight, or null for no weight. Source: reference work-tracking 2.8. */
export async function recordWeightEvent(
  tx: Tx,
  noteable: ChangedNoteable,
  weight: number | null,
  by: ChangedBy,
): Promise<void> {
  await tx.prepared(insertWeightEvent, [noteable.type, noteable.id, noteable.projectId, by.actorId, by.at, weight]);
}

/** State events: when noteables were closed and reopened. Source: reference work-tracking 2.8. */
export const stateEvents: ResourceEvents = {
  noun: 'state',
  about: (a) => ({
    list: `Lists when ${a} was closed and reopened, oldest first.`,
    one: `Shows when ${a} was closed or reopened, for one event.`,
  }),
  table: 'resource_state_events',
  joins: () => '',
  bytes: '0',
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceStateEvent').fields({
    state: [json.choice('closed', 'merged', 'reopened'), () => 'e.state'],
  }),
};

/** Weight events of issues; their JSON has `issue_id` instead of resource type and id. Source: reference work-tracking 2.8. */
export const weightEvents: ResourceEvents = {
  noun: 'weight',
  about: createAddRemoveEventSummaries('weight'),
  table: 'resource_weight_events',
  joins: () => '',
  bytes: '0',
  shape: changeShape.extend<ResourceEventSql>('ResourceWeightEvent').fields({
    issue_id: [json.int, () => 'e.noteable_id'],
    weight: [json.intOrNull, () => 'e.weight'],
  }),
};
