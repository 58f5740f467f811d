import { groupLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import type { ListStatement } from '../listing/list-statement';
import type { Reach } from '../scope/reached-groups-sql';
import { reachedGroupsSql } from '../scope/reached-groups-sql';
import { OWN_TABLES } from '../scope/reach-sql';
import type { GroupAbove, GroupFilters } from './group-filters';

/**
 * Which groups a list is of: those where the caller has at least this level, or all that he may see. `owned` and
 * `min_access_level` win over `all_available`; anonymous callers get the public ones whatever they ask for.
 * Source: reference identity-and-import 2.2, 0.8.
 */
export function wantedLevel(viewer: Viewer, params: GroupFilters): number | 'all' {
  if (viewer.userId === null) return 'all';
  if (params.owned || params.min_access_level !== undefined) {
    return Math.max(params.owned ? 50 : 0, params.min_access_level ?? 0);
  }
  return (params.all_available ?? viewer.isAdmin) ? 'all' : 10;
}

/** Binds the caller and the level for the statements of his reach. */
export function reachOf(statement: ListStatement, viewer: Viewer, level: number): Reach {
  return { user: `${statement.bind(viewer.userId)}::bigint`, level: `${statement.bind(level)}::integer` };
}

/** All that the caller may see, among the groups `n`. */
export function seeAll(statement: ListStatement, viewer: Viewer): void {
  if (viewer.isAdmin) return;
  const open = openSql(viewer);
  if (viewer.userId === null) statement.where(open);
  else statement.where(`(${open} or n.id in (${reachedGroupsSql(reachOf(statement, viewer, 10))}))`);
}

/**
 * The same below a group: who has the level there has it everywhere below. Only for others each row is looked at; they
 * are as many as lie below, not as many as the caller belongs to.
 */
export function seeBelow(statement: ListStatement, viewer: Viewer, params: GroupFilters, above: GroupAbove): void {
  const wanted = wantedLevel(viewer, params);
  if (wanted === 'all' && viewer.isAdmin) return;
  if (viewer.userId === null) {
    statement.where(openSql(viewer));
    return;
  }
  const least = wanted === 'all' ? 10 : wanted;
  if (above.level >= least) return;
  const held = levelSql(statement, viewer, least);
  statement.where(wanted === 'all' ? `(${openSql(viewer)} or ${held})` : held);
}

/** Boolean SQL: has the caller at least this level in the group `n`? */
export function levelSql(statement: ListStatement, viewer: Viewer, least: number): string {
  const user = `${statement.bind(viewer.userId)}::bigint`;
  return `${groupLevelSql({ user, namespace: 'n', tables: OWN_TABLES })} >= ${statement.bind(least)}`;
}

function openSql(viewer: Viewer): string {
  return viewer.userId === null || viewer.isExternal ? `n.visibility = 'public'` : `n.visibility <> 'private'`;
}
