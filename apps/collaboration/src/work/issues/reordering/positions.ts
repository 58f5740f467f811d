import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Units: positions between two issues that follow each other by id, so that many fit in between. */
const GAP_BITS = 30;
/** From the first or the last one on: small, so that issues that are opened later follow those that were put last. */
const STEP = 2n ** 16n;
/** How many issues make room for one at most. */
const NEIGHBOURS = 256;

/**
 * Where the issue stands in its project: where somebody put it, else by its id, so that one that nobody moved has a place
 * without a write. Shape: a bigint expression over the row of that alias. Source: reference work-tracking 9.1.
 */
export function positionSql(alias: string): string {
  return `coalesce(${alias}.relative_position, ${alias}.id << ${GAP_BITS})`;
}

/** $1 project. Orders of one project take turns. */
const hold = prepared(
  'issues_hold_order',
  `select pg_advisory_xact_lock(hashtextextended('issue order ' || $1::bigint, 0))`,
);
/** $1 project, $2 a position, $3 an issue that does not count. Positions are too large for a number. */
const next = prepared(
  'issues_next_position',
  `select min(${positionSql('i')})::text as position from issues i
   where i.project_id = $1::bigint and ${positionSql('i')} > $2::bigint and i.id <> $3::bigint`,
);
const last = prepared(
  'issues_last_position',
  `select max(${positionSql('i')})::text as position from issues i
   where i.project_id = $1::bigint and ${positionSql('i')} < $2::bigint and i.id <> $3::bigint`,
);
/** The same values. All that change are held in one order, then those that follow are spread evenly, up to the last of them or, where none follows that, beyond it. */
const spread = prepared(
  'issues_spread_positions',
  `with following as (
     select i.id, ${positionSql('i')} as position, row_number() over (order by ${positionSql('i')}, i.id) as place
     from issues i where i.project_id = $1::bigint and ${positionSql('i')} > $2::bigint and i.id <> $3::bigint
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
const put = prepared('issues_put', 'update issues set relative_position = $2::bigint where id = $1::bigint');

/** Between which two an issue is to stand. Shape: null where there is no wish. */
export interface Between {
  readonly after: bigint | null;
  readonly before: bigint | null;
}

/** Has the orders of one project made one after the other; until the transaction ends. */
export async function holdOrder(tx: Tx, projectId: number): Promise<void> {
  await tx.prepared(hold, [projectId]);
}

/**
 * Puts an issue right behind one, else right before the other. Answers whether there was room: hundreds of issues that
 * people put one into the other leave none.
 */
export async function putBetween(tx: Tx, projectId: number, issueId: number, between: Between): Promise<boolean> {
  const left = between.after ?? (await neighbour(tx, last, projectId, between.before!, issueId));
  let position = middle(left, await right(tx, projectId, issueId, left, between));
  if (position === null && left !== null) {
    await tx.prepared(spread, [projectId, String(left), issueId]);
    position = middle(left, await neighbour(tx, next, projectId, left, issueId));
  }
  if (position !== null) await tx.prepared(put, [issueId, String(position)]);
  return position !== null;
}

/** What it is to stand before; whatever follows, when the wishes contradict each other. */
async function right(
  tx: Tx,
  projectId: number,
  issueId: number,
  left: bigint | null,
  { before }: Between,
): Promise<bigint | null> {
  if (before !== null && (left === null || left < before)) return before;
  return neighbour(tx, next, projectId, left!, issueId);
}

async function neighbour(
  tx: Tx,
  statement: typeof next,
  projectId: number,
  position: bigint,
  issueId: number,
): Promise<bigint | null> {
  const values = [projectId, String(position), issueId];
  const [row] = await tx.prepared<{ position: string | null }>(statement, values);
  return row!.position === null ? null : BigInt(row!.position);
}

/** Shape: null where there is no place between them. */
function middle(left: bigint | null, right: bigint | null): bigint | null {
  if (left === null) return right! - STEP;
  if (right === null) return left + STEP;
  return right - left < 2n ? null : left + (right - left) / 2n;
}
