import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Exponent of the distance between issues with consecutive ids, so that many fit in between. Units: bits. */
const GAP_BITS = 30;
/**
 * Distance before the first and after the last issue. It is small, so that issues that are opened later come after
 * those that were moved to the end.
 */
const STEP = 2n ** 16n;
/** Limit of issues that are shifted to make room for one. */
const NEIGHBOURS = 256;

/**
 * Position of an issue in its project, as a bigint expression over the row `alias`. A user sets it, else it is derived
 * from the id, so that an issue that was never moved needs no write. Source: reference work-tracking 9.1.
 */
export function issuePositionSql(alias: string): string {
  return `coalesce(${alias}.relative_position, ${alias}.id << ${GAP_BITS})`;
}

/** $1 project. Serializes changes of the order of one project. */
const lockProjectOrder = prepareStatement(
  'issues_hold_order',
  `select pg_advisory_xact_lock(hashtextextended('issue order ' || $1::bigint, 0))`,
);
/** $1 project, $2 a position, $3 an issue to skip. Positions exceed the safe integers of JavaScript. */
const nextPosition = prepareStatement(
  'issues_next_position',
  `select min(${issuePositionSql('i')})::text as position from issues i
   where i.project_id = $1::bigint and ${issuePositionSql('i')} > $2::bigint and i.id <> $3::bigint`,
);
const previousPosition = prepareStatement(
  'issues_last_position',
  `select max(${issuePositionSql('i')})::text as position from issues i
   where i.project_id = $1::bigint and ${issuePositionSql('i')} < $2::bigint and i.id <> $3::bigint`,
);
/**
 * The same parameters. Locks all rows to change by id, then spreads the issues after the position evenly up to the last
 * of them, or beyond it if no issue follows that.
 */
const spreadFollowingIssues = prepareStatement(
  'issues_spread_positions',
  `with following as (
     select i.id, ${issuePositionSql('i')} as position, row_number() over (order by ${issuePositionSql('i')}, i.id) as place
     from issues i where i.project_id = $1::bigint and ${issuePositionSql('i')} > $2::bigint and i.id <> $3::bigint
     order by 2, 1 limit ${NEIGHBOURS}
   ), held as materialized (
     select i.id from issues i where i.id in (select id from following union all select $3::bigint)
     order by i.id for no key update
   ), room as (
     select count(*) as places, greatest(max(position) - $2::bigint,
       case when count(*) < ${NEIGHBOURS} then count(*) * ${STEP} else 0 end) as width from following
   )
   update issues moved set relative_position = $2::bigint + div(room.width::numeric * following.place, room.places)::bigint
   from following join held using (id), room where moved.id = following.id and room.width >= 4 * room.places`,
);
const setPosition = prepareStatement(
  'issues_put',
  'update issues set relative_position = $2::bigint where id = $1::bigint',
);

/** Positions of the new neighbours. Null permits any neighbour. */
export interface NeighbourPositions {
  readonly after: bigint | null;
  readonly before: bigint | null;
}

/** Serializes changes of the order of one project until the transaction ends. */
export async function lockIssueOrder(tx: Tx, projectId: number): Promise<void> {
  await tx.prepared(lockProjectOrder, [projectId]);
}

/**
 * Moves an issue directly after one, else directly before the other. Returns false if there is no room: after hundreds
 * of moves between the same issues.
 */
export async function moveIssueBetween(
  tx: Tx,
  projectId: number,
  issueId: number,
  between: NeighbourPositions,
): Promise<boolean> {
  const left =
    between.after ?? (await findNeighbourPosition(tx, previousPosition, projectId, between.before!, issueId));
  let position = middlePosition(left, await rightNeighbourPosition(tx, projectId, issueId, left, between));
  if (position === null && left !== null) {
    await tx.prepared(spreadFollowingIssues, [projectId, String(left), issueId]);
    position = middlePosition(left, await findNeighbourPosition(tx, nextPosition, projectId, left, issueId));
  }
  if (position !== null) await tx.prepared(setPosition, [issueId, String(position)]);
  return position !== null;
}

/** Position of the right neighbour; if the two requested neighbours contradict each other, that of the next issue. */
async function rightNeighbourPosition(
  tx: Tx,
  projectId: number,
  issueId: number,
  left: bigint | null,
  { before }: NeighbourPositions,
): Promise<bigint | null> {
  if (before !== null && (left === null || left < before)) return before;
  return findNeighbourPosition(tx, nextPosition, projectId, left!, issueId);
}

async function findNeighbourPosition(
  tx: Tx,
  statement: typeof nextPosition,
  projectId: number,
  position: bigint,
  issueId: number,
): Promise<bigint | null> {
  const values = [projectId, String(position), issueId];
  const [row] = await tx.prepared<{ position: string | null }>(statement, values);
  return row!.position === null ? null : BigInt(row!.position);
}

/** Middle of two positions. Returns null if there is none between them. */
function middlePosition(left: bigint | null, right: bigint | null): bigint | null {
  if (left === null) return right! - STEP;
  if (right === null) return left + STEP;
  return right - left < 2n ? null : left + (right - left) / 2n;
}
