import { prepared } from '@rookery/persistence';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { groupAccessSql } from '../../../base/noteables/access-sql';
import { readableSql } from '../../../base/noteables/noteable-kinds';
import type { NamedNoteable } from '../../../base/noteables/reader';
import { MOST_LEVELS } from '../epic-days';
import { epicKind } from '../epic.kind';

const MOVES = `hashtextextended('epic moves', 0)`;
/** Effects of moves wait for whoever decided by where groups were before. */
const holdMoves = prepared('epic_tree_hold_moves', `select pg_advisory_xact_lock_shared(${MOVES})`);
/** $1 group. Its tree is that of the group at its top, by what the copy of the directory has now. */
const hold = prepared(
  'epic_tree_hold',
  `select pg_advisory_xact_lock(hashtextextended('epic tree ' || traversal_ids[1], 0))
   from directory_namespaces where id = $1::bigint`,
);
const wait = prepared('epic_tree_wait', `select pg_advisory_lock(${MOVES}), pg_advisory_unlock(${MOVES})`);

const PERSON = { user: '$2::bigint', isAdmin: '$3::boolean', isExternal: '$4::boolean' };
const SEEN = `select i.id, i.iid, i.group_id, i.parent_id, i.confidential, a.full_path,
    a.traversal_ids[1] as root, a.reads_confidential as may_write, now() as at
  from epics i cross join lateral ${groupAccessSql('i.group_id', PERSON)} a`;
const READABLE = readableSql(epicKind, 'a', PERSON.user);
/** $1 epic, $2-$4 who reads. It stays as it is until the transaction ends. */
const byId = prepared('epic_tree_epic', `${SEEN} where i.id = $1::bigint and ${READABLE} for no key update of i`);
/** $1 number, $2-$4 who reads, $5 group. */
const byIid = prepared(
  'epic_tree_epic_named',
  `${SEEN} where i.group_id = $5::bigint and i.iid = $1::bigint and ${READABLE} for no key update of i`,
);
/**
 * $1 epics, $2-$4 who reads, $5 groups and $6 numbers of others: those that the reader knows of and what stands above each,
 * and below where $7 says so, in one order whoever asks, which is that of issues that go from one epic to another.
 */
const lockEnds = prepared(
  'epic_tree_lock_ends',
  `with ends as (
     select i.id, i.parent_id from epics i cross join lateral ${groupAccessSql('i.group_id', PERSON)} a
     where i.id in (select unnest($1::bigint[]) union all
       select e.id from unnest($5::bigint[], $6::bigint[]) named (group_id, iid)
         join epics e on e.group_id = named.group_id and e.iid = named.iid)
       and ${READABLE}
   ) select e.id from epics e where e.id in (select id from ends union all select parent_id from ends union all
       select c.id from ends join epics c on c.parent_id = ends.id where $7::boolean)
   order by e.id for no key update`,
);
/** $1 epic. It and all above it, from below; no circle is walked twice. */
const ancestors = prepared(
  'epic_tree_ancestors',
  `with recursive up (id, parent_id, level) as (
     select id, parent_id, 1 from epics where id = $1::bigint
     union all
     select e.id, e.parent_id, up.level + 1 from up join epics e on e.id = up.parent_id where up.level <= ${MOST_LEVELS}
   ) select id from up order by level`,
);
/** $1 epic. How many levels it has with all below it. */
const height = prepared(
  'epic_tree_height',
  `with recursive below (id, level) as (
     select $1::bigint, 1
     union all
     select c.id, b.level + 1 from below b join epics c on c.parent_id = b.id where b.level <= ${MOST_LEVELS}
   ) select max(level)::integer as levels from below`,
);
/** $1 epic. What stands above it, whoever may know of that. */
const parentOf = prepared(
  'epic_tree_parent',
  `select p.id, p.iid, p.group_id, p.confidential, coalesce(g.full_path, '') as full_path
   from epics i join epics p on p.id = i.parent_id left join directory_namespaces g on g.id = p.group_id
   where i.id = $1::bigint`,
);
/** Between two children that stand side by side there is room for as many. */
const ROOM = 1024;
/** $1 epic, $2 parent or nothing, $3 when. Before all others there. */
const put = prepared(
  'epic_tree_put',
  `update epics i set parent_id = $2::bigint, updated_at = $3::timestamptz, relative_position =
     (select coalesce(min(c.relative_position) - ${ROOM}, 0) from epics c where c.parent_id = $2::bigint)
   where i.id = $1::bigint`,
);
/** $1 parent. */
const children = prepared(
  'epic_tree_children',
  `select id, relative_position as position from epics where parent_id = $1::bigint order by relative_position, id`,
);
/** $1 children, $2 their positions. */
const place = prepared(
  'epic_tree_place',
  `update epics i set relative_position = wanted.position from unnest($1::bigint[], $2::bigint[]) wanted (id, position)
   where i.id = wanted.id and i.relative_position <> wanted.position`,
);
/** $1 epic. A child of it that everybody may see. */
const openChild = prepared(
  'epic_tree_open_child',
  'select 1 from epics where parent_id = $1::bigint and not confidential limit 1',
);
/** $1 groups that moved, with those below them. Parents and children that belong to one tree no more. */
const part = prepared(
  'epic_tree_part',
  `with moved as (select n.id, n.traversal_ids[1] as root from directory_namespaces n where n.traversal_ids && $1::bigint[]),
   parted as (
     select c.id from moved join epics c on c.group_id = moved.id join epics p on p.id = c.parent_id
       join directory_namespaces there on there.id = p.group_id where there.traversal_ids[1] <> moved.root
     union
     select c.id from moved join epics p on p.group_id = moved.id join epics c on c.parent_id = p.id
       join directory_namespaces there on there.id = c.group_id where there.traversal_ids[1] <> moved.root
   )
   update epics i set parent_id = null from parted where i.id = parted.id`,
);

/** An epic that somebody may know of, while its tree is held. */
export interface TreeEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly parent_id: number | null;
  readonly confidential: boolean;
  readonly full_path: string;
  /** The group at the top of the tree. */
  readonly root: number;
  readonly may_write: boolean;
  /** Now, by the clock of the database. */
  readonly at: Date;
}
/** A child and where it stands. */
export interface PlacedChild {
  readonly id: number;
  readonly position: number;
}
/** An epic as others name it. */
export type ReferredEpic = Pick<TreeEpic, 'id' | 'iid' | 'group_id' | 'full_path'>;

/** Epics that a change of the tree is about, by their ids or by group and number. */
export interface TreeEnds {
  readonly ids?: readonly number[];
  readonly named?: readonly { readonly groupId: number; readonly iid: number }[];
  /** Whether their children are held too. */
  readonly withChildren?: true;
}

/**
 * What a text on an epic is about with all that it asks for. Shape: null for an epic that is still to be opened; the epic
 * that it comes below by the same request.
 */
export function endsOf(on: Pick<NamedNoteable, 'by' | 'named' | 'parent'> | null, parentId?: number | null): TreeEnds {
  const above = typeof parentId === 'number' ? [parentId] : [];
  if (on?.by === 'id') return { ids: [...above, on.named] };
  return { ids: above, named: on ? [{ groupId: on.parent.id, iid: on.named }] : [] };
}

/** Statements on the tree of epics. What changes it takes turns, first of all, so that no two changes make a circle. */
export const epicTree = {
  /** To be called before any epic is locked, and after the last issue was. */
  async hold(
    tx: Tx,
    viewer: SignedInViewer,
    groupId: number,
    { ids = [], named = [], withChildren = undefined }: TreeEnds,
  ): Promise<void> {
    await tx.prepared(holdMoves, []);
    await tx.prepared(hold, [groupId]);
    const groups = named.map((epic) => epic.groupId);
    const numbers = named.map(({ iid }) => iid);
    await tx.prepared(lockEnds, [ids, ...personOf(viewer), groups, numbers, withChildren ?? false]);
  },

  async byId(tx: Tx, viewer: SignedInViewer, id: number): Promise<TreeEpic | undefined> {
    return (await tx.prepared<TreeEpic>(byId, [id, ...personOf(viewer)]))[0];
  },

  async byIid(tx: Tx, viewer: SignedInViewer, groupId: number, iid: number): Promise<TreeEpic | undefined> {
    return (await tx.prepared<TreeEpic>(byIid, [iid, ...personOf(viewer), groupId]))[0];
  },

  /** Ids of an epic and of those above it. */
  async ancestors(tx: Tx, id: number): Promise<readonly number[]> {
    return (await tx.prepared<{ id: number }>(ancestors, [id])).map((row) => row.id);
  },

  async height(tx: Tx, id: number): Promise<number> {
    return (await tx.prepared<{ levels: number }>(height, [id]))[0]!.levels;
  },

  async parentOf(tx: Tx, id: number): Promise<(ReferredEpic & { readonly confidential: boolean }) | undefined> {
    return (await tx.prepared<ReferredEpic & { readonly confidential: boolean }>(parentOf, [id]))[0];
  },

  async put(tx: Tx, id: number, parentId: number | null, at: Date): Promise<void> {
    await tx.prepared(put, [id, parentId, at]);
  },

  /** In their order, whoever may know of them. */
  async children(tx: Tx, id: number): Promise<readonly PlacedChild[]> {
    return tx.prepared<PlacedChild>(children, [id]);
  },

  /** Gives children their order: the moved one a place between its neighbours, or all of them where there is no room. */
  async order(tx: Tx, ids: readonly number[], moved: number, before: readonly PlacedChild[]): Promise<void> {
    const positionOf = new Map(before.map(({ id, position }) => [id, position]));
    const at = ids.indexOf(moved);
    const between = placeBetween(positionOf.get(ids[at - 1]!), positionOf.get(ids[at + 1]!));
    const values = between === null ? [ids, ids.map((_, index) => index * ROOM)] : [[moved], [between]];
    await tx.prepared(place, values);
  },

  async hasOpenChild(tx: Tx, id: number): Promise<boolean> {
    return (await tx.prepared(openChild, [id])).length > 0;
  },

  /**
   * For effects of moves: parts what belongs to one tree no more. Whoever decided by where groups had been is waited for,
   * and whoever decides later finds where they are now.
   */
  async part(tx: Tx, groupIds: readonly number[]): Promise<void> {
    await tx.prepared(wait, []);
    await tx.prepared(part, [groupIds]);
  },
};

/** Shape: undefined for no neighbour; null where there is no room. */
function placeBetween(low: number | undefined, high: number | undefined): number | null {
  if (low === undefined) return high === undefined ? 0 : high - ROOM;
  if (high === undefined) return low + ROOM;
  const middle = Math.floor((low + high) / 2);
  return middle > low ? middle : null;
}

function personOf({ userId, isAdmin, isExternal }: SignedInViewer): unknown[] {
  return [userId, isAdmin, isExternal];
}
