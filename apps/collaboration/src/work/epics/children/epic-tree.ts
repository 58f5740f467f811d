import { prepareStatement } from '@rookery/persistence';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { groupAccessRowSql } from '../../../base/noteables/access-sql';
import { canReadNoteableRowSql } from '../../../base/noteables/noteable-kinds';
import type { NoteableReference } from '../../../base/noteables/reader';
import { MOST_LEVELS } from '../epic-days';
import { epicKind } from '../epic.kind';

const MOVES = `hashtextextended('epic moves', 0)`;
/** Delays effects of group moves until this transaction ends, since it relies on the current groups. */
const delayMoves = prepareStatement('epic_tree_hold_moves', `select pg_advisory_xact_lock_shared(${MOVES})`);
/** $1 group. Locks its tree, which the top group identifies, by the current state of the directory copy. */
const lockTree = prepareStatement(
  'epic_tree_hold',
  `select pg_advisory_xact_lock(hashtextextended('epic tree ' || traversal_ids[1], 0))
   from directory_namespaces where id = $1::bigint`,
);
const awaitReaders = prepareStatement(
  'epic_tree_wait',
  `select pg_advisory_lock(${MOVES}), pg_advisory_unlock(${MOVES})`,
);

const PERSON = { user: '$2::bigint', isAdmin: '$3::boolean', isExternal: '$4::boolean' };
const SEEN = `select i.id, i.iid, i.group_id, i.parent_id, i.confidential, a.full_path,
    a.traversal_ids[1] as root, a.reads_confidential as may_write, now() as at
  from epics i cross join lateral ${groupAccessRowSql('i.group_id', PERSON)} a`;
const READABLE = canReadNoteableRowSql(epicKind, 'a', PERSON.user);
/** $1 epic, $2-$4 the viewer. Locks the epic until the transaction ends. */
const lockEpicById = prepareStatement(
  'epic_tree_epic',
  `${SEEN} where i.id = $1::bigint and ${READABLE} for no key update of i`,
);
/** $1 number, $2-$4 the viewer, $5 group. */
const lockEpicByIid = prepareStatement(
  'epic_tree_epic_named',
  `${SEEN} where i.group_id = $5::bigint and i.iid = $1::bigint and ${READABLE} for no key update of i`,
);
/**
 * $1 epics, $2-$4 the viewer, $5 groups and $6 numbers of further epics, $7 whether to include children. Locks those
 * that the viewer sees with their parents, always ordered by id, as moves of issues between epics do, so that no
 * deadlock occurs.
 */
const lockEnds = prepareStatement(
  'epic_tree_lock_ends',
  `with ends as (
     select i.id, i.parent_id from epics i cross join lateral ${groupAccessRowSql('i.group_id', PERSON)} a
     where i.id in (select unnest($1::bigint[]) union all
       select e.id from unnest($5::bigint[], $6::bigint[]) named (group_id, iid)
         join epics e on e.group_id = named.group_id and e.iid = named.iid)
       and ${READABLE}
   ) select e.id from epics e where e.id in (select id from ends union all select parent_id from ends union all
       select c.id from ends join epics c on c.parent_id = ends.id where $7::boolean)
   order by e.id for no key update`,
);
/** $1 epic. The epic and its ancestors, nearest first. The level limit ends a loop. */
const ancestors = prepareStatement(
  'epic_tree_ancestors',
  `with recursive up (id, parent_id, level) as (
     select id, parent_id, 1 from epics where id = $1::bigint
     union all
     select e.id, e.parent_id, up.level + 1 from up join epics e on e.id = up.parent_id where up.level <= ${MOST_LEVELS}
   ) select id from up order by level`,
);
/** $1 epic. Counts the levels of the epic with all its descendants. */
const height = prepareStatement(
  'epic_tree_height',
  `with recursive below (id, level) as (
     select $1::bigint, 1
     union all
     select c.id, b.level + 1 from below b join epics c on c.parent_id = b.id where b.level <= ${MOST_LEVELS}
   ) select max(level)::integer as levels from below`,
);
/** $1 epic. Its parent, without a check of visibility. */
const parentOf = prepareStatement(
  'epic_tree_parent',
  `select p.id, p.iid, p.group_id, p.confidential, coalesce(g.full_path, '') as full_path
   from epics i join epics p on p.id = i.parent_id left join directory_namespaces g on g.id = p.group_id
   where i.id = $1::bigint`,
);
/** Distance between the positions of neighbouring children, so that later moves fit between them. */
const DISTANCE = 1024;
/** $1 epic, $2 parent or null, $3 time. Sets the parent; the epic becomes its first child. */
const setParent = prepareStatement(
  'epic_tree_put',
  `update epics i set parent_id = $2::bigint, updated_at = $3::timestamptz, relative_position =
     (select coalesce(min(c.relative_position) - ${DISTANCE}, 0) from epics c where c.parent_id = $2::bigint)
   where i.id = $1::bigint`,
);
/** $1 parent. */
const children = prepareStatement(
  'epic_tree_children',
  `select id, relative_position as position from epics where parent_id = $1::bigint order by relative_position, id`,
);
/** $1 children, $2 their positions. */
const setPositions = prepareStatement(
  'epic_tree_place',
  `update epics i set relative_position = wanted.position from unnest($1::bigint[], $2::bigint[]) wanted (id, position)
   where i.id = wanted.id and i.relative_position <> wanted.position`,
);
/** $1 epic. Finds a child that is not confidential. */
const nonConfidentialChild = prepareStatement(
  'epic_tree_open_child',
  'select 1 from epics where parent_id = $1::bigint and not confidential limit 1',
);
/**
 * $1 moved groups. Removes the parents of epics that are in another tree than their parents now, in these groups and
 * their subgroups.
 */
const detachFromOtherTrees = prepareStatement(
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

/** An epic that the viewer sees, read while its tree is locked. */
export interface TreeEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly parent_id: number | null;
  readonly confidential: boolean;
  /** Path of the group. */
  readonly full_path: string;
  /** The group at the top of the tree. */
  readonly root: number;
  readonly may_write: boolean;
  /** Current time of the database. */
  readonly at: Date;
}
/** A child and its position. */
export interface PositionedChild {
  readonly id: number;
  readonly position: number;
}
/** An epic as a reference names it. */
export type ReferredEpic = Pick<TreeEpic, 'id' | 'iid' | 'group_id' | 'full_path'>;

/** Epics that a change of the tree involves, by id or by group and number. */
export interface EpicsToLock {
  readonly ids?: readonly number[];
  readonly named?: readonly { readonly groupId: number; readonly iid: number }[];
  /** Locks their children too. */
  readonly withChildren?: true;
}

/**
 * Returns the epics to lock for a text on an epic. `noteable` is null for an epic that does not exist yet; `parentId` is the
 * parent that the same request sets.
 */
export function listEpicsToLock(
  noteable: Pick<NoteableReference, 'by' | 'named' | 'parent'> | null,
  parentId?: number | null,
): EpicsToLock {
  const above = typeof parentId === 'number' ? [parentId] : [];
  if (noteable?.by === 'id') return { ids: [...above, noteable.named] };
  return { ids: above, named: noteable ? [{ groupId: noteable.parent.id, iid: noteable.named }] : [] };
}

/** Statements on the tree of epics. Each change locks the tree first, so that two changes cannot create a loop. */
export const epicTree = {
  /** Locks a tree. Callers lock issues before and epics after it. */
  async lock(
    tx: Tx,
    viewer: SignedInViewer,
    groupId: number,
    { ids = [], named = [], withChildren = undefined }: EpicsToLock,
  ): Promise<void> {
    await tx.prepared(delayMoves, []);
    await tx.prepared(lockTree, [groupId]);
    const groups = named.map((epic) => epic.groupId);
    const numbers = named.map(({ iid }) => iid);
    await tx.prepared(lockEnds, [ids, ...viewerStatementValues(viewer), groups, numbers, withChildren ?? false]);
  },

  async byId(tx: Tx, viewer: SignedInViewer, id: number): Promise<TreeEpic | undefined> {
    return (await tx.prepared<TreeEpic>(lockEpicById, [id, ...viewerStatementValues(viewer)]))[0];
  },

  async byIid(tx: Tx, viewer: SignedInViewer, groupId: number, iid: number): Promise<TreeEpic | undefined> {
    return (await tx.prepared<TreeEpic>(lockEpicByIid, [iid, ...viewerStatementValues(viewer), groupId]))[0];
  },

  /** Returns the ids of an epic and its ancestors. */
  async listAncestors(tx: Tx, id: number): Promise<readonly number[]> {
    return (await tx.prepared<{ id: number }>(ancestors, [id])).map((row) => row.id);
  },

  async height(tx: Tx, id: number): Promise<number> {
    return (await tx.prepared<{ levels: number }>(height, [id]))[0]!.levels;
  },

  async parentOf(tx: Tx, id: number): Promise<(ReferredEpic & { readonly confidential: boolean }) | undefined> {
    return (await tx.prepared<ReferredEpic & { readonly confidential: boolean }>(parentOf, [id]))[0];
  },

  async setParent(tx: Tx, id: number, parentId: number | null, at: Date): Promise<void> {
    await tx.prepared(setParent, [id, parentId, at]);
  },

  /** Returns all children in their order, without a check of visibility. */
  async listChildren(tx: Tx, id: number): Promise<readonly PositionedChild[]> {
    return tx.prepared<PositionedChild>(children, [id]);
  },

  /**
   * Orders children: gives the moved one a position between its neighbours, or all of them new positions if there is no
   * room.
   */
  async order(tx: Tx, ids: readonly number[], moved: number, before: readonly PositionedChild[]): Promise<void> {
    const positionOf = new Map(before.map(({ id, position }) => [id, position]));
    const at = ids.indexOf(moved);
    const between = epicPositionBetween(positionOf.get(ids[at - 1]!), positionOf.get(ids[at + 1]!));
    const values = between === null ? [ids, ids.map((_, index) => index * DISTANCE)] : [[moved], [between]];
    await tx.prepared(setPositions, values);
  },

  async hasNonConfidentialChild(tx: Tx, id: number): Promise<boolean> {
    return (await tx.prepared(nonConfidentialChild, [id])).length > 0;
  },

  /**
   * Separates epics from parents in another tree, for effects of group moves. Waits for transactions that read the
   * previous groups; later transactions read the new ones.
   */
  async separate(tx: Tx, groupIds: readonly number[]): Promise<void> {
    await tx.prepared(awaitReaders, []);
    await tx.prepared(detachFromOtherTrees, [groupIds]);
  },
};

/** Returns the position between two others, or null if there is no room. Undefined means that there is no neighbour. */
function epicPositionBetween(low: number | undefined, high: number | undefined): number | null {
  if (low === undefined) return high === undefined ? 0 : high - DISTANCE;
  if (high === undefined) return low + DISTANCE;
  const middle = Math.floor((low + high) / 2);
  return middle > low ? middle : null;
}

function viewerStatementValues({ userId, isAdmin, isExternal }: SignedInViewer): unknown[] {
  return [userId, isAdmin, isExternal];
}
