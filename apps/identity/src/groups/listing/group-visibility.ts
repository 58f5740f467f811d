import { groupAccessLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import type { ListQuery } from '@rookery/persistence';
import type { UserLevelSql } from '../../directory/reach/reached-groups-sql';
import { reachedGroupsSql } from '../../directory/reach/reached-groups-sql';
import { OWN_TABLES } from '../../directory/reach/reach-sql';
import type { ParentGroup, GroupFilters } from './group-filters';

/**
 * Returns the access level that the caller needs in listed groups, or `all` for all visible groups. `owned` and
 * `min_access_level` take precedence over `all_available`; anonymous callers always get the public groups.
 * Source: reference identity-and-import 0.8, 2.2.
 */
export function requiredGroupListLevel(viewer: Viewer, params: GroupFilters): number | 'all' {
  if (viewer.userId === null) return 'all';
  if (params.owned || params.min_access_level !== undefined) {
    return Math.max(params.owned ? 50 : 0, params.min_access_level ?? 0);
  }
  return (params.all_available ?? viewer.isAdmin) ? 'all' : 10;
}

/** Binds the caller and the level for the statements of the caller's groups. */
export function bindUserLevel(list: ListQuery<unknown>, viewer: Viewer, level: number): UserLevelSql {
  return { user: `${list.bind(viewer.userId, 'viewer')}::bigint`, level: `${list.bind(level, 'level')}::integer` };
}

/** Restricts groups `n` to those that the caller can see. */
export function narrowToVisibleGroups(list: ListQuery<unknown>, viewer: Viewer): void {
  if (viewer.isAdmin) return;
  const open = isGroupOpenToViewerSql(viewer);
  if (viewer.userId === null) list.where(open);
  else list.where(`(${open} or n.id in (${reachedGroupsSql(bindUserLevel(list, viewer, 10))}))`);
}

/**
 * Restricts subgroups of a group to those that the caller can see. A caller with the level in the group has it in all
 * subgroups. For other callers each row is checked, which costs by the number of subgroups, not of the caller's groups.
 */
export function narrowToVisibleSubgroups(
  list: ListQuery<unknown>,
  viewer: Viewer,
  params: GroupFilters,
  above: ParentGroup,
): void {
  const wanted = requiredGroupListLevel(viewer, params);
  if (wanted === 'all' && viewer.isAdmin) return;
  if (viewer.userId === null) {
    list.where(isGroupOpenToViewerSql(viewer));
    return;
  }
  const least = wanted === 'all' ? 10 : wanted;
  if (above.level >= least) return;
  const held = hasGroupLevelSql(list, viewer, least);
  list.where(wanted === 'all' ? `(${isGroupOpenToViewerSql(viewer)} or ${held})` : held);
}

/** Boolean SQL: does the caller have at least this level in the group `n`? */
export function hasGroupLevelSql(list: ListQuery<unknown>, viewer: Viewer, minLevel: number): string {
  const user = `${list.bind(viewer.userId, 'viewer')}::bigint`;
  return `${groupAccessLevelSql({ user, namespace: 'n', tables: OWN_TABLES })} >= ${list.bind(minLevel, 'level')}`;
}

function isGroupOpenToViewerSql(viewer: Viewer): string {
  return viewer.userId === null || viewer.isExternal ? `n.visibility = 'public'` : `n.visibility <> 'private'`;
}
