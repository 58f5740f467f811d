import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import { isGroupVisibleSql } from '../../directory/reach/seen-sql';
import type { GroupReference } from '../../namespaces/namespace-row';

/** Groups whose jobs a project admits. Source: reference identity-and-import 4.10. */
@Injectable()
export class JobTokenScopeGroupsQueries {
  constructor(private readonly db: Database) {}

  /** Lists those of the groups that the viewer can see, by id. */
  list(viewer: Viewer, ids: readonly number[], request: PageRequest): Promise<Page<GroupReference>> {
    return new ListQuery<GroupReference>({
      name: 'admitted-groups',
      from: 'namespaces n',
      columns: 'n.id, n.name, n.avatar_url, n.full_name, n.full_path',
    })
      .where((bind) => `n.kind = 'group' and n.id = any(${bind(ids)}::bigint[])`)
      .where((bind) =>
        isGroupVisibleSql(viewer, { namespace: 'n', user: viewer.isAdmin ? '' : `${bind(viewer.userId)}::bigint` }),
      )
      .readPage(this.db, request);
  }
}
