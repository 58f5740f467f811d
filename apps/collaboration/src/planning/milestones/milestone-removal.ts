import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { chunkOf } from '../../base/noteables/traces';
import type { Traces } from '../../base/noteables/traces';

/** Units: rows. Small enough that no statement nears its time limit, however much there is. */
const CHUNK = 5000;

const ofThings = prepared(
  'milestones_drop_events_of_things',
  'delete from resource_milestone_events where noteable_type = $1 and noteable_id = any($2::bigint[])',
);
/** $1 projects. */
const ofProjects = prepared(
  'milestones_drop_events_of_projects',
  `delete from resource_milestone_events where id = any(array(
     select id from resource_milestone_events where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
);

/** What is told of things that are gone. */
export async function dropMilestoneEventsOfThings(tx: Tx, type: string, ids: readonly number[]): Promise<void> {
  await tx.prepared(ofThings, [type, ids]);
}

/** What is told of things in projects that are gone. */
export async function dropMilestoneEventsIn(tx: Tx, projectIds: readonly number[]): Promise<void> {
  while ((await tx.prepared(ofProjects, [projectIds])).length === CHUNK);
}

const eventsOf = chunkOf('resource_milestone_events', 'id', 'user_id = $1::bigint');

/** What milestones hold of people. */
export const milestoneTraces: Traces = {
  own: [],
  written: [
    prepared(
      'traces_hand_over_milestone_events',
      `update resource_milestone_events set user_id = $2::bigint where ${eventsOf} returning 1`,
    ),
  ],
  dropWritten: [
    prepared('traces_drop_milestone_events', `delete from resource_milestone_events where ${eventsOf} returning 1`),
  ],
};
