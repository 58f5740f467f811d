import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { List } from '../listing/list-statement';
import { firstReachedGroupsSql, reachedGroupsSql } from '../scope/reached-groups-sql';
import type { GroupAbove, GroupFilters } from './group-filters';
import { narrow, narrowByState } from './group-narrowing';
import { orderSql } from './group-order';
import { listedSql } from './group-columns';
import { reachOf, seeAll, seeBelow, wantedLevel } from './group-visibility';
import type { ListedGroupRow } from './listed-group-row';

const GROUPS = { name: 'groups', from: 'namespaces n', key: 'n.id' };

/** A cursor of the list: the last row that was shown. */
export type GroupCursor = Readonly<Record<string, unknown>>;

/** Lists of groups, with visibility inside the statements. Source: reference identity-and-import 2.2; ADR 0111, 0112. */
@Injectable()
export class GroupListsQueries {
  constructor(private readonly db: Database) {}

  async page(viewer: Viewer, params: GroupFilters, request: PageRequest): Promise<Page<ListedGroupRow>> {
    const [statement, list] = this.all(viewer, params);
    return statement.page<ListedGroupRow>(this.db, list, request);
  }

  /** For anonymous callers: by name, then id, from the place after the cursor on; one row more than asked for. */
  after(viewer: Viewer, params: GroupFilters, perPage: number, cursor: GroupCursor | null): Promise<ListedGroupRow[]> {
    const [statement, list] = this.all(viewer, params);
    if (cursor !== null) {
      const at = `${statement.bind(cursor['name'])}, ${statement.bind(cursor['id'])}::bigint`;
      statement.filter(`(n.name, n.id) > (${at})`);
    }
    return statement.rows<ListedGroupRow>(this.db, { ...list, order: 'n.name asc, n.id asc' }, perPage);
  }

  /** Groups directly below. */
  children(
    viewer: Viewer,
    above: GroupAbove,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const statement = new ListStatement().where(`n.kind = 'group'`);
    statement.where(`n.parent_id = ${statement.bind(above.id)}`);
    return this.below(statement, GROUPS, viewer, above, params, request);
  }

  /** Groups on all levels below. */
  descendants(
    viewer: Viewer,
    above: GroupAbove,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const statement = new ListStatement();
    const id = statement.bind(above.id);
    statement.where(`tree.ancestor_id = ${id} and tree.namespace_id <> ${id}`);
    const tree = { ...GROUPS, from: 'namespace_ancestors tree join namespaces n on n.id = tree.namespace_id' };
    return this.below(statement, tree, viewer, above, params, request);
  }

  private below(
    statement: ListStatement,
    from: typeof GROUPS,
    viewer: Viewer,
    above: GroupAbove,
    params: GroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    seeBelow(statement, viewer, params, above);
    narrow(statement, viewer, params, 'own path');
    narrowByState(statement, viewer, params);
    // The name beside the ancestor is the one that its index is ordered by.
    const order = orderSql(statement, params, from === GROUPS ? 'n.name' : 'tree.name');
    return statement.page(this.db, { ...from, order, show: listedSql(viewer, params) }, request);
  }

  /** The list over everything: driven by what the caller reaches, or by the index of names. */
  private all(viewer: Viewer, params: GroupFilters): [ListStatement, List] {
    const statement = new ListStatement();
    const show = listedSql(viewer, params);
    const level = wantedLevel(viewer, params);
    if (level === 'all') {
      statement.where(`n.kind = 'group'`);
      seeAll(statement, viewer);
      narrowAll(statement, viewer, params);
      return [statement, { ...GROUPS, order: orderSql(statement, params), show }];
    }
    const reach = reachOf(statement, viewer, level);
    narrowAll(statement, viewer, params);
    const reached = `(${reachedGroupsSql(reach)})`;
    if (statement.conditionSql === '' && (params.order_by === 'name' || params.order_by === 'similarity')) {
      const first = (count: number): string => `(${firstReachedGroupsSql(reach, { count, sort: params.sort })}) n`;
      const order = `n.name ${params.sort}, n.id asc`;
      return [statement, { ...GROUPS, from: `${reached} n`, order, first, show }];
    }
    // `offset 0`: all of them, then sorted. For the sake of the first rows the planner would go through every group there is.
    const from = `(select n.* from ${reached} reached join namespaces n on n.id = reached.id offset 0) n`;
    return [statement, { ...GROUPS, from, order: orderSql(statement, params), show }];
  }
}

function narrowAll(statement: ListStatement, viewer: Viewer, params: GroupFilters): void {
  narrow(statement, viewer, params, 'full path');
  narrowByState(statement, viewer, params);
}
