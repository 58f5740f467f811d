import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';
import { isGroupVisibleSql } from '../../directory/reach/seen-sql';
import { listedGroupColumnsSql } from '../listing/group-columns';
import type { ParentGroup, LinkedGroupFilters } from '../listing/group-filters';
import { narrowGroupsByCommonFilters } from '../listing/group-narrowing';
import { groupOrderTerms } from '../listing/group-order';
import { hasGroupLevelSql } from '../listing/group-visibility';
import type { ListedGroupRow } from '../listing/listed-group-row';

/** How a group is invited: to the group itself, or to one above it. */
export type Relation = 'direct' | 'inherited';

/**
 * Groups linked by invitations that have not expired, if the caller can see them. Source: reference
 * identity-and-import 2.1, 2.2.
 */
@Injectable()
export class LinkedGroupsQueries {
  constructor(private readonly db: Database) {}

  /** Lists the groups that have invited this one. */
  listInviting(
    viewer: Viewer,
    group: ParentGroup,
    params: LinkedGroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const list = unfilteredLinkedGroupsQuery(viewer, params).where(
      (bind) => `n.id in (select s.source_id from shares s
        where s.group_id = ${bind(group.id)} and s.source_type = 'namespace' and ${isMembershipOrShareUnexpiredSql('s')})`,
    );
    return this.readVisiblePage(list, viewer, params, request);
  }

  /** Lists the groups that are invited to this one. */
  listInvited(
    viewer: Viewer,
    group: ParentGroup,
    params: LinkedGroupFilters & { readonly relation?: readonly Relation[] },
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    const sources = selectOwnAndAncestorGroupIds(group, params.relation);
    const list = unfilteredLinkedGroupsQuery(viewer, params).where(
      (bind) => `n.id in (select s.group_id from shares s
        where s.source_type = 'namespace' and s.source_id = any(${bind(sources)}::bigint[]) and ${isMembershipOrShareUnexpiredSql('s')})`,
    );
    return this.readVisiblePage(list, viewer, params, request);
  }

  private readVisiblePage(
    list: ListQuery<ListedGroupRow>,
    viewer: Viewer,
    params: LinkedGroupFilters,
    request: PageRequest,
  ): Promise<Page<ListedGroupRow>> {
    if (!viewer.isAdmin) {
      const user = viewer.userId === null ? 'null' : `${list.bind(viewer.userId)}::bigint`;
      list.where(isGroupVisibleSql(viewer, { namespace: 'n', user }));
    }
    if (viewer.userId !== null && params.min_access_level !== undefined) {
      list.filter(hasGroupLevelSql(list, viewer, params.min_access_level));
    }
    narrowGroupsByCommonFilters(list, viewer, params, 'own path');
    return list.orderBy(groupOrderTerms(list.bind, params)).readPage(this.db, request);
  }
}

function unfilteredLinkedGroupsQuery(viewer: Viewer, params: LinkedGroupFilters): ListQuery<ListedGroupRow> {
  return new ListQuery<ListedGroupRow>({
    name: 'linked-groups',
    from: 'namespaces n',
    columns: listedGroupColumnsSql(viewer, params),
  });
}

function selectOwnAndAncestorGroupIds(
  { id, traversalIds }: ParentGroup,
  relation: readonly Relation[] = [],
): readonly number[] {
  if (relation.length === 0) return traversalIds;
  const above = traversalIds.filter((one) => one !== id);
  return [...(relation.includes('direct') ? [id] : []), ...(relation.includes('inherited') ? above : [])];
}
