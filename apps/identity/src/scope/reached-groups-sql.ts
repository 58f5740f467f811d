import { live } from './reach-sql';

/** Shape: SQL expressions of the person's id and of the least level. */
export interface Reach {
  readonly user: string;
  readonly level: string;
}

/**
 * Groups that somebody reaches with at least a level: his own memberships, what lies below them, and what invited groups
 * open. Memberships come from one index and are nearly always all there is; only those that lead further are followed.
 * Shape: a statement of distinct group ids, to be used as a sub-select. Source: ADR 0111.
 */
export function reachedGroupsSql(reach: Reach): string {
  return `with ${treesSql(reach)},
      other as (select distinct a.namespace_id as id from trees join namespace_ancestors a on a.ancestor_id = trees.id)
    select mine.source_id as id from members mine where ${heldSql('mine', reach)}
    union all select other.id from other where not exists (
      select 1 from members mine where ${heldSql('mine', reach)} and mine.source_id = other.id)`;
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
