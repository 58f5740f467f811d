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
      ${TOPS},
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
 * The same as `reachedGroupsSql`, some of them more than once and without a look at what lies in the trees: for an index,
 * which sorts the array and drops what is equal by itself. Memberships come first and in order: nearly always that is all,
 * and then there is nothing to sort. Shape: an expression, an array of ids.
 */
export function gatheredGroupsSql(reach: Reach): string {
  return `(array(select mine.source_id from members mine where ${heldSql('mine', reach)} order by mine.source_id)
    || array(with ${treesSql(reach)}, ${TOPS} select below.id from tops, lateral (
      select a.namespace_id as id from namespace_ancestors a where a.ancestor_id = tops.id order by a.namespace_id) below))`;
}

/** What groups are told apart and put in order by, as it stands beside memberships and ancestors. */
const KEPT = {
  name: { mine: 'mine.source_name', below: 'a.name' },
  path: { mine: 'mine.source_path', below: 'a.path' },
  id: { mine: 'mine.source_id', below: 'a.namespace_id' },
};

/** How many rows are wanted, and in which order; equal ones by id. */
export interface First {
  readonly count: number;
  readonly by: keyof typeof KEPT;
  readonly sort: 'asc' | 'desc';
}

/**
 * At least the first `count` groups in this order, from indexes that hold what they are ordered by: so many of the
 * memberships, and so many of each tree that is reached besides. Shape: a statement of distinct `id` and, unless that
 * orders them, `name` or `path`.
 */
export function firstReachedGroupsSql(reach: Reach, first: First): string {
  const below = KEPT[first.by].below;
  const shown = first.by === 'id' ? '' : `, ${below}`;
  return `with ${treesSql(reach)}
    (${firstHeldSql(heldSql('mine', reach), first)})
    union (select one.* from trees, lateral (
      select a.namespace_id as id${shown} from namespace_ancestors a where a.ancestor_id = trees.id
      order by ${below} ${first.sort}, a.namespace_id limit ${first.count}) one)`;
}

/** Those of them that lie at the top: below another group there are none. Shape: a statement of distinct group ids. */
export function reachedTopGroupsSql(reach: Reach): string {
  const held = heldSql('mine', reach);
  return `with ${leadsSql(reach)}, opened as (${openedSql(reach)})
    select mine.source_id as id from members mine where ${held} and mine.source_at_top
    union all select top.id from namespaces top
      where top.parent_id is null and top.id in (select id from opened)
        and not exists (select 1 from members mine where ${held} and mine.source_id = top.id)`;
}

/** At least the first of those. Shape: as of `firstReachedGroupsSql`. */
export function firstReachedTopGroupsSql(reach: Reach, first: First): string {
  const shown = first.by === 'id' ? '' : `, top.${first.by}`;
  return `with ${leadsSql(reach)}, opened as (${openedSql(reach)})
    (${firstHeldSql(`${heldSql('mine', reach)} and mine.source_at_top`, first)})
    union (select top.id${shown} from namespaces top where top.parent_id is null and top.id in (select id from opened))`;
}

function firstHeldSql(held: string, { count, by, sort }: First): string {
  const mine = KEPT[by].mine;
  return `select mine.source_id as id${by === 'id' ? '' : `, ${mine} as ${by}`} from members mine where ${held}
      order by ${mine} ${sort}, mine.source_id limit ${count}`;
}

/** `trees`: groups below which all is reached, apart from memberships that open nothing but their own group. */
function treesSql(reach: Reach): string {
  return `${leadsSql(reach)},
      trees as materialized (select id from leads union ${openedSql(reach)})`;
}

/** `tops`: those of them that lie in no other of them. */
const TOPS = `tops as materialized (select t.id from trees t where not exists (select 1 from namespace_ancestors a
        where a.namespace_id = t.id and a.ancestor_id <> t.id and a.ancestor_id in (select id from trees)))`;

/** `leads`: memberships that open more than their own group. */
function leadsSql(reach: Reach): string {
  return `leads as materialized (
        select mine.source_id as id from members mine where ${heldSql('mine', reach)} and mine.leads_further)`;
}

/** Groups to which groups were invited that are reached by `leads`. */
function openedSql(reach: Reach): string {
  return `select s.source_id as id from shares s
          where s.source_type = 'namespace' and s.access_level >= ${reach.level} and ${live('s')}
            and s.group_id in (select a.namespace_id from leads join namespace_ancestors a on a.ancestor_id = leads.id)`;
}

function heldSql(alias: string, { user, level }: Reach): string {
  return `${alias}.user_id = ${user} and ${alias}.source_type = 'namespace' and ${alias}.access_level >= ${level}
        and ${live(alias)}`;
}
