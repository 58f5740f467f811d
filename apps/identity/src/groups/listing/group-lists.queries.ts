import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import {
  firstReachedGroupsSql,
  firstReachedTopLevelGroupsSql,
  reachedGroupIdArraySql,
  reachedGroupsSql,
  reachedTopLevelGroupsSql,
} from '../../directory/reach/reached-groups-sql';
import type { ParentGroup, GroupFilters } from './group-filters';
import { narrowGroupsByCommonFilters, narrowGroupsByState } from './group-narrowing';
import { groupOrderTerms } from './group-order';
import { listedGroupColumnsSql } from './group-columns';
import {
  bindUserLevel,
  narrowToVisibleGroups,
  narrowToVisibleSubgroups,
  requiredGroupListLevel,
} from './group-visibility';
import type { ListedGroupRow } from './listed-group-row';

/** Cursor of a list: name and id of the last row of the previous page. */
export type GroupCursor = Readonly<Record<string, unknown>>;

/** Lists of groups, with visibility inside the statements. Source: reference identity-and-import 2.2; ADR 0063. */
@Injectable()
export class GroupListsQueries {
  constructor(private readonly db: Database) {}

  list(viewer: Viewer, params: GroupFilters, request: PageRequest): Promise<Page<ListedGroupRow>> {
    return allGroupsQuery(viewer, params).readPage(this.db, request);
  }

  /** For anonymous callers: returns up to `perPage + 1` groups after the cursor, by name and id. */
  listAfter(
    viewer: Viewer,
    params: GroupFilters,
    perPage: number,
    cursor: GroupCursor | null,
  ): Promise<ListedGroupRow[]> {
    const list = allGroupsQuery(viewer, params).orderBy([['n.name', 'asc']]);
    if (cursor !== null) list.startAfter([cursor['name'], cursor['id']]);
    return list.readRows(this.db, perPage);
  }

  /** Direct subgroups. */
  listChildren(
    viewer: Viewer,
    above: ParentGroup,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const list = unfilteredGroupsQuery(viewer, params)
      .where(`n.kind = 'group'`)
      .where((bind) => `n.parent_id = ${bind(above.id, 'above')}`);
    narrowToGroupsBelow(list, viewer, above, params);
    return list.orderBy(groupOrderTerms(list.bind, params)).readPage(this.db, request);
  }

  /** Subgroups on all levels. */
  listDescendants(
    viewer: Viewer,
    above: ParentGroup,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const list = unfilteredGroupsQuery(viewer, params).fromSource({
      from: 'namespace_ancestors tree join namespaces n on n.id = tree.namespace_id',
    });
    const id = list.bind(above.id, 'above');
    list.where(`tree.ancestor_id = ${id} and tree.namespace_id <> ${id}`);
    narrowToGroupsBelow(list, viewer, above, params);
    // The indexes of the ancestor table are ordered by its own copies of name and path.
    return list
      .orderBy(groupOrderTerms(list.bind, params, { name: 'tree.name', path: 'tree.path' }))
      .readPage(this.db, request);
  }
}

function unfilteredGroupsQuery(viewer: Viewer, params: GroupFilters): ListQuery<ListedGroupRow> {
  return new ListQuery<ListedGroupRow>({
    name: 'groups',
    from: 'namespaces n',
    columns: listedGroupColumnsSql(viewer, params),
  });
}

/** The list of all groups, read from the caller's groups if only these are wanted, else from the index of names. */
function allGroupsQuery(viewer: Viewer, params: GroupFilters): ListQuery<ListedGroupRow> {
  const list = unfilteredGroupsQuery(viewer, params);
  const level = requiredGroupListLevel(viewer, params);
  if (level === 'all') {
    narrowToVisibleGroups(list.where(`n.kind = 'group'`), viewer);
    narrowByAllFilters(list, viewer, params);
    return list.orderBy(groupOrderTerms(list.bind, params));
  }
  return restrictToReachedGroups(list, viewer, params, level);
}

/**
 * Restricts a list to groups in which the caller has the level, also by inheritance and shares. The statements that find
 * these groups apply `top_level_only`.
 */
function restrictToReachedGroups(
  list: ListQuery<ListedGroupRow>,
  viewer: Viewer,
  { top_level_only, ...params }: GroupFilters,
  level: number,
): ListQuery<ListedGroupRow> {
  const reach = bindUserLevel(list, viewer, level);
  narrowByAllFilters(list, viewer, { ...params, top_level_only: false });
  list.orderBy(groupOrderTerms(list.bind, params));
  if (list.isWhole) {
    const by = params.order_by === 'similarity' ? 'name' : params.order_by;
    const [all, firstOf] = top_level_only
      ? [reachedTopLevelGroupsSql, firstReachedTopLevelGroupsSql]
      : [reachedGroupsSql, firstReachedGroupsSql];
    const first = (count: number): string => `(${firstOf(reach, { count, by, sort: params.sort })}) n`;
    return list.fromSource({ from: `(${all(reach)}) n`, first });
  }
  // An array, so that one index scan finds all of them before the sort. For the first rows of a join, the planner would
  // scan all groups.
  const ids = top_level_only ? `array(${reachedTopLevelGroupsSql(reach)})` : reachedGroupIdArraySql(reach);
  const from = `(select n.* from namespaces n where n.kind = 'group' and n.id = any(${ids})) n`;
  return list.fromSource({ from, isGathered: true });
}

function narrowByAllFilters(list: ListQuery<unknown>, viewer: Viewer, params: GroupFilters): void {
  narrowGroupsByCommonFilters(list, viewer, params, 'full path');
  narrowGroupsByState(list, viewer, params);
}

function narrowToGroupsBelow(
  list: ListQuery<unknown>,
  viewer: Viewer,
  parent: ParentGroup,
  params: GroupFilters,
): void {
  narrowToVisibleSubgroups(list, viewer, params, parent);
  narrowGroupsByCommonFilters(list, viewer, params, 'own path');
  narrowGroupsByState(list, viewer, params);
}
