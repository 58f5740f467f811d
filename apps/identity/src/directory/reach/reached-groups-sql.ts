import { isMembershipOrShareUnexpiredSql } from './reach-sql';

/** SQL expressions of a user's id and of the minimum level. */
export interface UserLevelSql {
  readonly user: string;
  readonly level: string;
}

/**
 * Up to this number, memberships are looked up one by one in the trees. Above it, all groups of the trees are collected
 * first.
 */
const FEW = 200;

/**
 * SQL: groups in which a user has at least a level, by memberships, groups below them, and invited groups. Memberships
 * come from one index and are nearly always the whole result; only those that lead to other groups are followed. The
 * text is a statement of distinct group ids, for use as a sub-select. Source: ADR 0063.
 */
export function reachedGroupsSql(reach: UserLevelSql): string {
  // `offset 0` prevents a hashed EXISTS, which would collect all groups of the trees.
  return `with ${defineReachedTreesCteSql(reach)},
      ${TOPS},
      inside as not materialized (
        select a.namespace_id as id from tops join namespace_ancestors a on a.ancestor_id = tops.id),
      few as materialized (select count(*) < ${FEW} as yes from (
        select 1 from members mine where ${isGroupMembershipOfUserSql('mine', reach)} limit ${FEW}) some_of_them)
    select id from inside
    union all select mine.source_id from members mine
      where ${isGroupMembershipOfUserSql('mine', reach)} and not case when (select yes from few)
        then exists (select 1 from namespace_ancestors a
          where a.namespace_id = mine.source_id and a.ancestor_id in (select id from tops) offset 0)
        else mine.source_id in (select id from inside) end`;
}

/** SQL: the same groups and the user's own namespace, so all namespaces that the user reaches. */
export function allReachedNamespacesSql(reach: UserLevelSql): string {
  return `${reachedGroupsSql(reach)} union all select own.id from namespaces own where own.owner_id = ${reach.user}`;
}

/**
 * SQL: an array of the ids of the same groups as `reachedGroupsSql`, possibly with duplicates, and without checking
 * which memberships are inside the trees. For an index condition, which sorts the array and removes duplicates.
 * Memberships come first and in order: nearly always they are the whole result, which is then already sorted.
 */
export function reachedGroupIdArraySql(reach: UserLevelSql): string {
  return `(array(select mine.source_id from members mine where ${isGroupMembershipOfUserSql('mine', reach)} order by mine.source_id)
    || array(with ${defineReachedTreesCteSql(reach)}, ${TOPS} select below.id from tops, lateral (
      select a.namespace_id as id from namespace_ancestors a where a.ancestor_id = tops.id order by a.namespace_id) below))`;
}

/** Columns by which groups are ordered, as copied into memberships and into ancestors. */
const KEPT = {
  name: { mine: 'mine.source_name', below: 'a.name' },
  path: { mine: 'mine.source_path', below: 'a.path' },
  id: { mine: 'mine.source_id', below: 'a.namespace_id' },
};

/** The number of wanted rows and their order; ties are ordered by id. */
export interface GroupOrderAndLimit {
  readonly count: number;
  readonly by: keyof typeof KEPT;
  readonly sort: 'asc' | 'desc';
}

/**
 * SQL: at least the first `count` groups in this order, from indexes that contain the ordering columns: up to `count`
 * of the memberships, and up to `count` of each reached tree. Returns a statement of distinct `id` and, unless it
 * orders by id, `name` or `path`.
 */
export function firstReachedGroupsSql(reach: UserLevelSql, first: GroupOrderAndLimit): string {
  const below = KEPT[first.by].below;
  const shown = first.by === 'id' ? '' : `, ${below}`;
  return `with ${defineReachedTreesCteSql(reach)}
    (${firstMembershipsSql(isGroupMembershipOfUserSql('mine', reach), first)})
    union (select one.* from trees, lateral (
      select a.namespace_id as id${shown} from namespace_ancestors a where a.ancestor_id = trees.id
      order by ${below} ${first.sort}, a.namespace_id limit ${first.count}) one)`;
}

/** SQL: a statement of the distinct ids of top-level groups in which a user has at least a level. */
export function reachedTopLevelGroupsSql(reach: UserLevelSql): string {
  const held = isGroupMembershipOfUserSql('mine', reach);
  return `with ${defineFurtherReachingMembershipsCteSql(reach)}, opened as (${groupsThatInvitedReachedGroupsSql(reach)})
    select mine.source_id as id from members mine where ${held} and mine.source_at_top
    union all select top.id from namespaces top
      where top.parent_id is null and top.id in (select id from opened)
        and not exists (select 1 from members mine where ${held} and mine.source_id = top.id)`;
}

/**
 * SQL: at least the first `count` groups of `reachedTopLevelGroupsSql` in this order. The columns are those of
 * `firstReachedGroupsSql`.
 */
export function firstReachedTopLevelGroupsSql(reach: UserLevelSql, first: GroupOrderAndLimit): string {
  const shown = first.by === 'id' ? '' : `, top.${first.by}`;
  return `with ${defineFurtherReachingMembershipsCteSql(reach)}, opened as (${groupsThatInvitedReachedGroupsSql(reach)})
    (${firstMembershipsSql(`${isGroupMembershipOfUserSql('mine', reach)} and mine.source_at_top`, first)})
    union (select top.id${shown} from namespaces top where top.parent_id is null and top.id in (select id from opened))`;
}

function firstMembershipsSql(condition: string, { count, by, sort }: GroupOrderAndLimit): string {
  const mine = KEPT[by].mine;
  return `select mine.source_id as id${by === 'id' ? '' : `, ${mine} as ${by}`} from members mine where ${condition}
      order by ${mine} ${sort}, mine.source_id limit ${count}`;
}

/** Defines `trees`: groups below which all groups are reached, by memberships that also count below, and by invitations of groups. */
function defineReachedTreesCteSql(reach: UserLevelSql): string {
  return `${defineFurtherReachingMembershipsCteSql(reach)},
      trees as materialized (select id from leads union ${groupsThatInvitedReachedGroupsSql(reach)})`;
}

/** `tops`: those of the trees that are not inside another one. */
const TOPS = `tops as materialized (select t.id from trees t where not exists (select 1 from namespace_ancestors a
        where a.namespace_id = t.id and a.ancestor_id <> t.id and a.ancestor_id in (select id from trees)))`;

/** `leads`: memberships that give access to more than their own group. */
function defineFurtherReachingMembershipsCteSql(reach: UserLevelSql): string {
  return `leads as materialized (
        select mine.source_id as id from members mine where ${isGroupMembershipOfUserSql('mine', reach)} and mine.leads_further)`;
}

/** Groups to which a group at or below one of `leads` is invited. */
function groupsThatInvitedReachedGroupsSql(reach: UserLevelSql): string {
  return `select s.source_id as id from shares s
          where s.source_type = 'namespace' and s.access_level >= ${reach.level} and ${isMembershipOrShareUnexpiredSql('s')}
            and s.group_id in (select a.namespace_id from leads join namespace_ancestors a on a.ancestor_id = leads.id)`;
}

function isGroupMembershipOfUserSql(alias: string, { user, level }: UserLevelSql): string {
  return `${alias}.user_id = ${user} and ${alias}.source_type = 'namespace' and ${alias}.access_level >= ${level}
        and ${isMembershipOrShareUnexpiredSql(alias)}`;
}
