import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { chunkOf } from '../../base/noteables/traces';
import type { Traces } from '../../base/noteables/traces';

/** Units: rows. Small enough that no statement nears its time limit, however much there is. */
const CHUNK = 5000;

const ofThings = [
  prepared(
    'labels_drop_links_of_things',
    'delete from label_links where noteable_type = $1 and noteable_id = any($2::bigint[])',
  ),
  prepared(
    'labels_drop_events_of_things',
    'delete from resource_label_events where noteable_type = $1 and noteable_id = any($2::bigint[])',
  ),
];
/** $1 projects. */
const ofProjects = [
  prepared(
    'labels_drop_links_of_projects',
    `delete from label_links where ctid = any(array(
       select ctid from label_links where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
  ),
  prepared(
    'labels_drop_priorities_of_projects',
    `delete from label_priorities where ctid = any(array(
       select ctid from label_priorities where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
  ),
  prepared(
    'labels_drop_events_of_projects',
    `delete from resource_label_events where id = any(array(
       select id from resource_label_events where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
  ),
];

/** What hangs on things that are gone. */
export async function dropLabelsOfThings(tx: Tx, type: string, ids: readonly number[]): Promise<void> {
  for (const statement of ofThings) await tx.prepared(statement, [type, ids]);
}

/** What hangs on projects that are gone, besides the labels themselves. */
export async function dropLabelUseIn(tx: Tx, projectIds: readonly number[]): Promise<void> {
  for (const statement of ofProjects) while ((await tx.prepared(statement, [projectIds])).length === CHUNK);
}

const eventsOf = chunkOf('resource_label_events', 'id', 'user_id = $1::bigint');

/** What labels hold of people. */
export const labelTraces: Traces = {
  own: [
    prepared(
      'traces_drop_label_subscriptions',
      `delete from label_subscriptions where ${chunkOf('label_subscriptions', 'ctid', 'user_id = $1::bigint')}
       returning 1`,
    ),
  ],
  written: [
    prepared(
      'traces_hand_over_label_events',
      `update resource_label_events set user_id = $2::bigint where ${eventsOf} returning 1`,
    ),
  ],
  dropWritten: [
    prepared('traces_drop_label_events', `delete from resource_label_events where ${eventsOf} returning 1`),
  ],
};
