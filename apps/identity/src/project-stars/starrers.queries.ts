import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { userFaceSql } from '../users/users.queries';
import type { StarrerRow } from './starrer-row';

/** Who gave stars to a project, as far as the viewer may know. Source: ADR 0116. */
@Injectable()
export class StarrersQueries {
  constructor(private readonly db: Database) {}

  /** Newest star first. */
  page(
    viewer: Viewer,
    projectId: number,
    params: { readonly search?: string },
    request: PageRequest,
  ): Promise<Page<StarrerRow>> {
    const statement = new ListStatement();
    const project = statement.bind(projectId);
    statement.where(`s.project_id = ${project}`).where(`u.state = 'active'`);
    if (!viewer.isAdmin) {
      statement.where(`(not u.private_profile or u.id = ${statement.bind(viewer.userId)}::bigint)`);
    }
    if (params.search) {
      const pattern = statement.bind(containing(params.search));
      statement.filter(`(u.name ilike ${pattern} or u.username ilike ${pattern})`);
    }
    const show = (ids: string): string =>
      `select s.created_at as starred_since, ${userFaceSql('u')} as "user" from (${ids}) cut join users u on u.id = cut.id
       join project_stars s on s.user_id = cut.id and s.project_id = ${project} order by cut.position`;
    const from = 'project_stars s join users u on u.id = s.user_id';
    const order = 's.created_at desc, s.user_id desc';
    return statement.page<StarrerRow>(this.db, { name: 'starrers', from, key: 's.user_id', order, show }, request);
  }
}
