import { live } from './reach-sql';

/** Shape: SQL expressions of the person's id and of the least level. */
export interface Reach {
  readonly user: string;
  readonly level: string;
}

/** So few memberships are looked up one by one in the trees; for more, all that lies in the trees is gathered first. */
const FEW = 200;

/**
 * Groups that somebody reaches with at least a level: their own memberships, what lies below them, and what invited groups
 * open. Memberships come from one index and are nearly always all there is; only those that lead further are followed.
 * Shape: a statement of distinct group ids, to be used as a sub-select. Source: ADR 0063.
 */
export function reachedGroupsSql(reach: Reach): string {
  // An EXISTS without `offset 0` would be hashed, which gathers the trees after all.
  return `with ${treesSql(reach)},
      tops as materialized (select t.id from trees t where not exists (select 1 from namespace_ancestors a
        where a.namespace_id = t.id and a.ancestor_id <> t.id and a.ancestor_id in (select id from trees))),
      inside as not materialized (
        select a.namespace_id as id from tops join namespace_ancestors a on a.ancestor_id = tops.id),
      few as materialized (select count(*) < ${FEW} as yes from (
        select 1 from members mine where ${heldSql('mine', reach)} limit ${FEW}) some_of_them)
    select id from inside
    union all select mine.source_id from members mine
      where ${heldSql('mine', reach)} and not case when (select yes from few)
        then exists (select 1 from namespace_ancestors a
          where a.namespace_id = mine.source_id and a.ancestor_id in (select id from tops) offset 0)
        else mine.source_id in (select id from inside) end`;
}

/** The same and the person's own namespace: all namespaces that somebody reaches. */
export function reachedTreeSql(reach: Reach): string {
  return `${reachedGroupsSql(reach)} union all select own.id from namespaces own where own.owner_id = ${reach.user}`;
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
  return `with ${treesSql(reach)}
    (select mine.source_id as id, mine.source_name as name from members mine where ${heldSql('mine', reach)}
      ${first('mine.source_name', 'mine.source_id')})
    union (select one.id, one.name from trees, lateral (
      select a.namespace_id as id, a.name from namespace_ancestors a where a.ancestor_id = trees.id
      ${first('a.name', 'a.namespace_id')}) one)`;
}

/** `trees`: groups below which all is reached, apart from memberships that open nothing but their own group. */
function treesSql(reach: Reach): string {
  return `leads as materialized (
        select mine.source_id as id from members mine where ${heldSql('mine', reach)} and mine.leads_further),
      trees as materialized (select id from leads
        union select s.source_id from shares s
          where s.source_type = 'namespace' and s.access_level >= ${reach.level} and ${live('s')}
            and s.group_id in (select a.namespace_id from leads join namespace_ancestors a on a.ancestor_id = leads.id))`;
}

function heldSql(alias: string, { user, level }: Reach): string {
  return `${alias}.user_id = ${user} and ${alias}.source_type = 'namespace' and ${alias}.access_level >= ${level}
        and ${live(alias)}`;
}
