import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { chunkOf } from '../noteables/traces';
import type { Traces } from '../noteables/traces';

/** Units: rows. Small enough that no statement nears its time limit, however much there is. */
const CHUNK = 5000;

const ofThings = [
  prepared(
    'resource_events_drop_states_of_things',
    'delete from resource_state_events where noteable_type = $1 and noteable_id = any($2::bigint[])',
  ),
  prepared(
    'resource_events_drop_weights_of_things',
    'delete from resource_weight_events where noteable_type = $1 and noteable_id = any($2::bigint[])',
  ),
];
/** $1 projects. */
const ofProjects = [
  prepared(
    'resource_events_drop_states_of_projects',
    `delete from resource_state_events where id = any(array(
       select id from resource_state_events where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
  ),
  prepared(
    'resource_events_drop_weights_of_projects',
    `delete from resource_weight_events where id = any(array(
       select id from resource_weight_events where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
  ),
];

/** What is told of things that are gone. */
export async function dropResourceEventsOfThings(tx: Tx, type: string, ids: readonly number[]): Promise<void> {
  for (const statement of ofThings) await tx.prepared(statement, [type, ids]);
}

/** What is told of things in projects that are gone. */
export async function dropResourceEventsIn(tx: Tx, projectIds: readonly number[]): Promise<void> {
  for (const statement of ofProjects) while ((await tx.prepared(statement, [projectIds])).length === CHUNK);
}

const statesOf = chunkOf('resource_state_events', 'id', 'user_id = $1::bigint');
const weightsOf = chunkOf('resource_weight_events', 'id', 'user_id = $1::bigint');

/** What changes of states and weights hold of people. */
export const resourceEventTraces: Traces = {
  own: [],
  written: [
    prepared(
      'traces_hand_over_state_events',
      `update resource_state_events set user_id = $2::bigint where ${statesOf} returning 1`,
    ),
    prepared(
      'traces_hand_over_weight_events',
      `update resource_weight_events set user_id = $2::bigint where ${weightsOf} returning 1`,
    ),
  ],
  dropWritten: [
    prepared('traces_drop_state_events', `delete from resource_state_events where ${statesOf} returning 1`),
    prepared('traces_drop_weight_events', `delete from resource_weight_events where ${weightsOf} returning 1`),
  ],
};
