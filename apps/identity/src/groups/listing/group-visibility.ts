import { groupLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import type { ListQuery } from '@rookery/persistence';
import type { Reach } from '../../directory/reach/reached-groups-sql';
import { reachedGroupsSql } from '../../directory/reach/reached-groups-sql';
import { OWN_TABLES } from '../../directory/reach/reach-sql';
import type { GroupAbove, GroupFilters } from './group-filters';

/**
 * Which groups a list is of: those where the caller has at least this level, or all that they may see. `owned` and
 * `min_access_level` win over `all_available`; anonymous callers get the public ones whatever they ask for.
 * Source: reference identity-and-import 0.8, 2.2.
 */
export function wantedLevel(viewer: Viewer, params: GroupFilters): number | 'all' {
  if (viewer.userId === null) return 'all';
  if (params.owned || params.min_access_level !== undefined) {
    return Math.max(params.owned ? 50 : 0, params.min_access_level ?? 0);
  }
  return (params.all_available ?? viewer.isAdmin) ? 'all' : 10;
}

/** Binds the caller and the level for the statements of what they reach. */
export function reachOf(list: ListQuery<unknown>, viewer: Viewer, level: number): Reach {
  return { user: `${list.bind(viewer.userId, 'viewer')}::bigint`, level: `${list.bind(level, 'level')}::integer` };
}

/** All that the caller may see, among the groups `n`. */
export function seeAll(list: ListQuery<unknown>, viewer: Viewer): void {
  if (viewer.isAdmin) return;
  const open = openSql(viewer);
  if (viewer.userId === null) list.where(open);
  else list.where(`(${open} or n.id in (${reachedGroupsSql(reachOf(list, viewer, 10))}))`);
}

/**
 * The same below a group: who has the level there has it everywhere below. Only for others each row is looked at; they
 * are as many as lie below, not as many as the caller belongs to.
 */
export function seeBelow(list: ListQuery<unknown>, viewer: Viewer, params: GroupFilters, above: GroupAbove): void {
  const wanted = wantedLevel(viewer, params);
  if (wanted === 'all' && viewer.isAdmin) return;
  if (viewer.userId === null) {
    list.where(openSql(viewer));
    return;
  }
  const least = wanted === 'all' ? 10 : wanted;
  if (above.level >= least) return;
  const held = levelSql(list, viewer, least);
  list.where(wanted === 'all' ? `(${openSql(viewer)} or ${held})` : held);
}

/** Boolean SQL: has the caller at least this level in the group `n`? */
export function levelSql(list: ListQuery<unknown>, viewer: Viewer, least: number): string {
  const user = `${list.bind(viewer.userId, 'viewer')}::bigint`;
  return `${groupLevelSql({ user, namespace: 'n', tables: OWN_TABLES })} >= ${list.bind(least, 'level')}`;
}

function openSql(viewer: Viewer): string {
  return viewer.userId === null || viewer.isExternal ? `n.visibility = 'public'` : `n.visibility <> 'private'`;
}
