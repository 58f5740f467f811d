import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { Database, filter, ListQuery } from '@rookery/persistence';
import { isGroupReadOnlySql } from '../../directory/change-states';
import { reachedGroupsSql } from '../../directory/reach/reached-groups-sql';
import type { GroupReference } from '../../namespaces/namespace-row';

/** Groups below which another one may be moved. Source: reference identity-and-import 2.6. */
@Injectable()
export class TransferLocationsQueries {
  constructor(private readonly db: Database) {}

  /**
   * Lists groups by name in which the viewer may create subgroups, without the group itself, its subgroups, and its
   * present parent.
   */
  list(
    viewer: Viewer,
    group: { readonly id: number; readonly parentId: number | null },
    search: string | undefined,
    request: PageRequest,
  ): Promise<Page<GroupReference>> {
    const list = new ListQuery<GroupReference>({
      name: 'transfer-locations',
      from: 'namespaces n',
      columns: 'n.id, n.name, n.avatar_url, n.full_name, n.full_path',
    })
      .where(`n.kind = 'group'`)
      .where(
        (bind) => `not exists (select 1 from namespace_ancestors a
          where a.ancestor_id = ${bind(group.id)}::bigint and a.namespace_id = n.id)`,
      )
      .where((bind) => `n.id is distinct from ${bind(group.parentId)}::bigint`)
      .narrow({ search: filter.contains('n.name', 'n.path') }, { search })
      .orderBy([['n.name', 'asc']]);
    if (!viewer.isAdmin) narrowToPossibleParents(list, viewer);
    return list.readPage(this.db, request);
  }
}

/**
 * Restricts the list to groups in which the viewer may create subgroups, starting from the groups that the viewer
 * reaches.
 */
function narrowToPossibleParents(list: ListQuery<GroupReference>, viewer: Viewer): void {
  const user = `${list.bind(viewer.userId)}::bigint`;
  const reached = (level: number) => reachedGroupsSql({ user, level: String(level) });
  list.where(`(n.subgroup_creation_level = 'maintainer' or n.id in (${reached(ACCESS_LEVELS.owner)}))`);
  list.where(`not ${isGroupReadOnlySql('n')}`);
  // `offset 0` makes PostgreSQL find all groups before sorting, as in lists of groups.
  const groups = `select n.* from (${reached(ACCESS_LEVELS.maintainer)}) reached join namespaces n on n.id = reached.id`;
  list.fromSource({ from: `(${groups} offset 0) n` });
}
