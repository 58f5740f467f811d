import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import { live } from '../scope/reach-sql';
import { seenGroupSql } from '../scope/seen-group-sql';
import { listedSql } from '../group-lists/group-columns';
import type { GroupAbove, LinkedGroupFilters } from '../group-lists/group-filters';
import { narrow } from '../group-lists/group-narrowing';
import { orderSql } from '../group-lists/group-order';
import { levelSql } from '../group-lists/group-visibility';
import type { ListedGroupRow } from '../group-lists/listed-group-row';

/** How a group came to be invited: to the group itself, or to one above it. */
export type Relation = 'direct' | 'inherited';

/**
 * Groups on the other side of invitations that count today, as far as the caller may know of them.
 * Source: reference identity-and-import 2.1; ADR 0112.
 */
@Injectable()
export class LinkedGroupsQueries {
  constructor(private readonly db: Database) {}

  /** Groups that invited this one. */
  inviting(
    viewer: Viewer,
    group: GroupAbove,
    params: LinkedGroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const statement = new ListStatement();
    statement.where(`n.id in (select s.source_id from shares s
      where s.group_id = ${statement.bind(group.id)} and s.source_type = 'namespace' and ${live('s')})`);
    return this.page(statement, viewer, params, request);
  }

  /** Groups that were invited into this one. */
  invited(
    viewer: Viewer,
    group: GroupAbove,
    params: LinkedGroupFilters & { readonly relation?: readonly Relation[] },
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const statement = new ListStatement();
    const sources = statement.bind(sourcesOf(group, params.relation));
    statement.where(`n.id in (select s.group_id from shares s
      where s.source_type = 'namespace' and s.source_id = any(${sources}::bigint[]) and ${live('s')})`);
    return this.page(statement, viewer, params, request);
  }

  private page(
    statement: ListStatement,
    viewer: Viewer,
    params: LinkedGroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    if (!viewer.isAdmin) {
      const user = viewer.userId === null ? 'null' : `${statement.bind(viewer.userId)}::bigint`;
      statement.where(seenGroupSql(viewer, { namespace: 'n', user }));
    }
    if (viewer.userId !== null && params.min_access_level !== undefined) {
      statement.filter(levelSql(statement, viewer, params.min_access_level));
    }
    narrow(statement, viewer, params, 'own path');
    const list = { name: 'linked-groups', from: 'namespaces n', key: 'n.id', order: orderSql(statement, params) };
    return statement.page(this.db, { ...list, show: listedSql(viewer, params) }, request);
  }
}

function sourcesOf({ id, traversalIds }: GroupAbove, relation: readonly Relation[] = []): readonly number[] {
  if (relation.length === 0) return traversalIds;
  const above = traversalIds.filter((one) => one !== id);
  return [...(relation.includes('direct') ? [id] : []), ...(relation.includes('inherited') ? above : [])];
}
