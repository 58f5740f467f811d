import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { dropLabelsOfThings } from '../labels/label-removal';
import { chunkOf } from '../noteables/traces';
import type { Traces } from '../noteables/traces';
import { dropResourceEventsOfThings } from '../resource-events/resource-event-removal';

/** Units: epics. Small enough that no statement nears its time limit. */
const CHUNK = 500;

const remove = prepared('epics_remove', 'delete from epics where id = any($1::bigint[])');
const ofGroups = prepared(
  'epics_of_groups',
  `select id from epics where group_id = any($1::bigint[]) limit ${CHUNK} for update`,
);
const ofAuthor = prepared(
  'epics_of_author',
  `select id from epics where author_id = $1::bigint limit ${CHUNK} for update`,
);

/** Removes epics with what hangs on them. */
export async function dropEpics(tx: Tx, ids: readonly number[]): Promise<void> {
  await dropLabelsOfThings(tx, 'Epic', ids);
  await dropResourceEventsOfThings(tx, 'Epic', ids);
  await tx.prepared(remove, [ids]);
}

/** Removes the epics of groups that are gone. */
export async function dropEpicsOfGroups(tx: Tx, groupIds: readonly number[]): Promise<void> {
  while (!(await dropFound(tx, await tx.prepared<{ id: number }>(ofGroups, [groupIds]))));
}

/** Removes epics of somebody whose writings go with them. True when nothing was left. */
export async function dropEpicsBy(tx: Tx, authorId: number): Promise<boolean> {
  return dropFound(tx, await tx.prepared<{ id: number }>(ofAuthor, [authorId]));
}

async function dropFound(tx: Tx, rows: readonly { readonly id: number }[]): Promise<boolean> {
  if (rows.length > 0) {
    await dropEpics(
      tx,
      rows.map((row) => row.id),
    );
  }
  return rows.length < CHUNK;
}

/** What epics hold of people. */
export const epicTraces: Traces = {
  own: [],
  named: [
    prepared(
      'traces_hand_over_epic_closings',
      `update epics set closed_by_id = $2::bigint where ${chunkOf('epics', 'id', 'closed_by_id = $1::bigint')}
       returning 1`,
    ),
  ],
  written: [
    prepared(
      'traces_hand_over_epics',
      `update epics set author_id = $2::bigint where ${chunkOf('epics', 'id', 'author_id = $1::bigint')} returning 1`,
    ),
  ],
};
