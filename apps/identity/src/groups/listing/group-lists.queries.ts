import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import {
  firstReachedGroupsSql,
  firstReachedTopGroupsSql,
  gatheredGroupsSql,
  reachedGroupsSql,
  reachedTopGroupsSql,
} from '../../directory/reach/reached-groups-sql';
import type { GroupAbove, GroupFilters } from './group-filters';
import { narrow, narrowByState } from './group-narrowing';
import { groupOrder } from './group-order';
import { listedColumns } from './group-columns';
import { reachOf, seeAll, seeBelow, wantedLevel } from './group-visibility';
import type { ListedGroupRow } from './listed-group-row';

/** A cursor of the list: the last row that was shown. */
export type GroupCursor = Readonly<Record<string, unknown>>;

/** Lists of groups, with visibility inside the statements. Source: reference identity-and-import 2.2; ADR 0063. */
@Injectable()
export class GroupListsQueries {
  constructor(private readonly db: Database) {}

  page(viewer: Viewer, params: GroupFilters, request: PageRequest): Promise<Page<ListedGroupRow>> {
    return allGroups(viewer, params).page(this.db, request);
  }

  /** For anonymous callers: by name, then id, from the place after the cursor on; one row more than asked for. */
  after(viewer: Viewer, params: GroupFilters, perPage: number, cursor: GroupCursor | null): Promise<ListedGroupRow[]> {
    const list = allGroups(viewer, params).orderBy([['n.name', 'asc']]);
    if (cursor !== null) list.after([cursor['name'], cursor['id']]);
    return list.rows(this.db, perPage);
  }

  /** Groups directly below. */
  children(
    viewer: Viewer,
    above: GroupAbove,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const list = groupsOf(viewer, params)
      .where(`n.kind = 'group'`)
      .where((bind) => `n.parent_id = ${bind(above.id, 'above')}`);
    narrowBelow(list, viewer, above, params);
    return list.orderBy(groupOrder(list.bind, params)).page(this.db, request);
  }

  /** Groups on all levels below. */
  descendants(
    viewer: Viewer,
    above: GroupAbove,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const list = groupsOf(viewer, params).among({
      from: 'namespace_ancestors tree join namespaces n on n.id = tree.namespace_id',
    });
    const id = list.bind(above.id, 'above');
    list.where(`tree.ancestor_id = ${id} and tree.namespace_id <> ${id}`);
    narrowBelow(list, viewer, above, params);
    // Name and path beside the ancestor are those that its indexes are ordered by.
    return list.orderBy(groupOrder(list.bind, params, { name: 'tree.name', path: 'tree.path' })).page(this.db, request);
  }
}

function groupsOf(viewer: Viewer, params: GroupFilters): ListQuery<ListedGroupRow> {
  return new ListQuery<ListedGroupRow>({
    name: 'groups',
    from: 'namespaces n',
    columns: listedColumns(viewer, params),
  });
}

/** The list over everything: driven by what the caller reaches, or by the index of names. */
function allGroups(viewer: Viewer, params: GroupFilters): ListQuery<ListedGroupRow> {
  const list = groupsOf(viewer, params);
  const level = wantedLevel(viewer, params);
  if (level === 'all') {
    seeAll(list.where(`n.kind = 'group'`), viewer);
    narrowAll(list, viewer, params);
    return list.orderBy(groupOrder(list.bind, params));
  }
  return reachedGroups(list, viewer, params, level);
}

/** What the caller reaches. That a group lies at the top is known where it is found, so it is no condition here. */
function reachedGroups(
  list: ListQuery<ListedGroupRow>,
  viewer: Viewer,
  { top_level_only, ...params }: GroupFilters,
  level: number,
): ListQuery<ListedGroupRow> {
  const reach = reachOf(list, viewer, level);
  narrowAll(list, viewer, { ...params, top_level_only: false });
  list.orderBy(groupOrder(list.bind, params));
  if (list.isWhole) {
    const by = params.order_by === 'similarity' ? 'name' : params.order_by;
    const [all, firstOf] = top_level_only
      ? [reachedTopGroupsSql, firstReachedTopGroupsSql]
      : [reachedGroupsSql, firstReachedGroupsSql];
    const first = (count: number): string => `(${firstOf(reach, { count, by, sort: params.sort })}) n`;
    return list.among({ from: `(${all(reach)}) n`, first });
  }
  // An array: all of them are found in one walk over an index, and only then sorted. For the sake of the first rows of a
  // join the planner would go through every group there is.
  const ids = top_level_only ? `array(${reachedTopGroupsSql(reach)})` : gatheredGroupsSql(reach);
  const from = `(select n.* from namespaces n where n.kind = 'group' and n.id = any(${ids})) n`;
  return list.among({ from, isGathered: true });
}

function narrowAll(list: ListQuery<unknown>, viewer: Viewer, params: GroupFilters): void {
  narrow(list, viewer, params, 'full path');
  narrowByState(list, viewer, params);
}

function narrowBelow(list: ListQuery<unknown>, viewer: Viewer, above: GroupAbove, params: GroupFilters): void {
  seeBelow(list, viewer, params, above);
  narrow(list, viewer, params, 'own path');
  narrowByState(list, viewer, params);
}
