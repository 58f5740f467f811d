import type { NoteableType } from '@rookery/contracts';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { json } from '../noteables/json.shape';
import type { ToldState } from './resource-event.entity';
import { changeShape, gotAndLost, resourceEventShape } from './resource-events.shape';
import type { ResourceEvents, ResourceEventSql } from './resource-events.shape';

const tellOfState = prepared(
  'resource_events_tell_state',
  `insert into resource_state_events (noteable_type, noteable_id, project_id, user_id, created_at, state)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::timestamptz, $6)`,
);
const tellOfWeight = prepared(
  'resource_events_tell_weight',
  `insert into resource_weight_events (noteable_type, noteable_id, project_id, user_id, created_at, weight)
   values ($1, $2::bigint, $3::bigint, $4::bigint, $5::timestamptz, $6::integer)`,
);

/** What changed, and by whom. */
export interface Changed {
  readonly type: NoteableType;
  readonly id: number;
  readonly projectId: number | null;
}
export interface ChangedBy {
  readonly actorId: number;
  readonly at: Date;
}

/** Keeps that a thing was closed, merged or opened again. Source: reference work-tracking 2.8. */
export async function tellState(tx: Tx, thing: Changed, state: ToldState, by: ChangedBy): Promise<void> {
  await tx.prepared(tellOfState, [thing.type, thing.id, thing.projectId, by.actorId, by.at, state]);
}

/** Keeps that a thing got another weight. Shape: null for none. Source: reference work-tracking 2.8. */
export async function tellWeight(tx: Tx, thing: Changed, weight: number | null, by: ChangedBy): Promise<void> {
  await tx.prepared(tellOfWeight, [thing.type, thing.id, thing.projectId, by.actorId, by.at, weight]);
}

/** When things were closed and opened again. Source: reference work-tracking 2.8. */
export const stateEvents: ResourceEvents = {
  noun: 'state',
  about: (a) => ({
    list: `Lists when ${a} was closed and opened again, oldest first.`,
    one: `Shows one time that ${a} was closed or opened again.`,
  }),
  table: 'resource_state_events',
  joins: () => '',
  bytes: '0',
  shape: resourceEventShape.extend<ResourceEventSql>('ResourceStateEvent').fields({
    state: [json.choice('closed', 'merged', 'reopened'), () => 'e.state'],
  }),
};

/** Weights that issues got and lost; they tell of the issue in a way of their own. Source: reference work-tracking 2.8. */
export const weightEvents: ResourceEvents = {
  noun: 'weight',
  about: gotAndLost('weight'),
  table: 'resource_weight_events',
  joins: () => '',
  bytes: '0',
  shape: changeShape.extend<ResourceEventSql>('ResourceWeightEvent').fields({
    issue_id: [json.int, () => 'e.noteable_id'],
    weight: [json.intOrNull, () => 'e.weight'],
  }),
};
