import { live } from './reach-sql';

/** Shape: SQL expressions of the person's id and of the least level. */
export interface Reach {
  readonly user: string;
  readonly level: string;
}

/**
 * Groups that somebody reaches with at least a level: his own memberships, what lies below them, and what invited groups
 * open. Memberships come from one index and are nearly always all there is; only groups that have subgroups are
 * looked below. Shape: a statement of distinct group ids, to be used as a sub-select. Source: ADR 0111.
 */
export function reachedGroupsSql(reach: Reach): string {
  return `with mine as materialized (${membershipsSql(reach)}),
      below as (select a.namespace_id as id from mine join subgroup_parents p on p.namespace_id = mine.id
        join namespace_ancestors a on a.ancestor_id = mine.id),
      other as (select id from below
        union select a.namespace_id from (${openedSql(reach)}) opened join namespace_ancestors a on a.ancestor_id = opened.id)
    select id from mine union all select id from other where not exists (select 1 from mine where mine.id = other.id)`;
}

/**
 * At least the first `count` of them by name, from indexes that hold the names: so many of the memberships, and so many
 * of each tree that is reached besides. Shape: a statement of distinct `id` and `name`.
 */
export function firstReachedGroupsSql(
  reach: Reach,
  o: { readonly count: number; readonly sort: 'asc' | 'desc' },
): string {
  const first = (name: string, id: string): string => `order by ${name} ${o.sort}, ${id} limit ${o.count}`;
  return `with mine as (${membershipsSql(reach)}),
      wide as materialized (select mine.id from mine join subgroup_parents p on p.namespace_id = mine.id),
      below as (select a.namespace_id as id from wide join namespace_ancestors a on a.ancestor_id = wide.id),
      trees as (select id from wide union ${openedSql(reach)})
    (select id, name from mine ${first('name', 'id')})
    union (select one.id, one.name from trees, lateral (
      select a.namespace_id as id, a.name from namespace_ancestors a where a.ancestor_id = trees.id
      ${first('a.name', 'a.namespace_id')}) one)`;
}

function membershipsSql({ user, level }: Reach): string {
  return `select m.source_id as id, m.source_name as name from members m
    where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${live('m')}`;
}

/** Groups that invited one of those in `mine` and `below`. */
function openedSql({ level }: Reach): string {
  return `select s.source_id as id from shares s
    where s.source_type = 'namespace' and s.access_level >= ${level} and ${live('s')}
      and s.group_id in (select id from mine union all select id from below)`;
}
