import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { reachedGroupsSql } from '../scope/reached-groups-sql';

export interface TransferLocation {
  readonly id: number;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly full_name: string;
  readonly full_path: string;
}

/** Groups below which another may be moved. Source: reference identity-and-import 2.6. */
@Injectable()
export class TransferLocations {
  constructor(private readonly db: Database) {}

  /** By name: where the viewer may make subgroups, without the group itself, what lies below it, and where it is. */
  page(
    viewer: Viewer,
    group: { readonly id: number; readonly parentId: number | null },
    search: string | undefined,
    request: PageRequest,
  ): Promise<Page<TransferLocation>> {
    const statement = new ListStatement().where(`n.kind = 'group'`);
    const id = `${statement.bind(group.id)}::bigint`;
    statement.where(
      `not exists (select 1 from namespace_ancestors a where a.ancestor_id = ${id} and a.namespace_id = n.id)`,
    );
    statement.where(`n.id is distinct from ${statement.bind(group.parentId)}::bigint`);
    const from = viewer.isAdmin ? 'namespaces n' : maySubgroupSql(statement, viewer);
    if (search) {
      const pattern = statement.bind(containing(search));
      statement.filter(`(n.name ilike ${pattern} or n.path ilike ${pattern})`);
    }
    const show = (ids: string) =>
      `select n.id, n.name, n.avatar_url, n.full_name, n.full_path from (${ids}) cut join namespaces n on n.id = cut.id
       order by cut.position`;
    return statement.page<TransferLocation>(
      this.db,
      { name: 'transfer-locations', from, key: 'n.id', order: 'n.name, n.id', show },
      request,
    );
  }
}

/** Groups `n` below which the viewer may make others, found by what he reaches. */
function maySubgroupSql(statement: ListStatement, viewer: Viewer): string {
  const user = `${statement.bind(viewer.userId)}::bigint`;
  const reached = (level: number) => reachedGroupsSql({ user, level: String(level) });
  statement.where(`(n.subgroup_creation_level = 'maintainer' or n.id in (${reached(ACCESS_LEVELS.owner)}))`);
  // `offset 0`: all of them, then sorted, as in lists of groups.
  return `(select n.* from (${reached(ACCESS_LEVELS.maintainer)}) reached join namespaces n on n.id = reached.id offset 0) n`;
}
