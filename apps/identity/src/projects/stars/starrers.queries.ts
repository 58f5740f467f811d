import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { UserSummary } from '../../users/user.entity';
import { isUserVisibleSql } from '../../users/bot-home';
import { createUserSearchFilter } from '../../users/user-search-filter';
import { userSummaryJsonSql } from '../../users/users.queries';

/** A user who has starred a project, with the time. */
export interface StarrerRow {
  readonly starred_since: Date;
  readonly user: UserSummary;
}

/** Users who have starred a project, if the viewer can see them. Source: reference identity-and-import 10.2. */
@Injectable()
export class StarrersQueries {
  constructor(private readonly db: Database) {}

  /** Lists newest stars first. */
  list(
    viewer: Viewer,
    projectId: number,
    params: { readonly search?: string },
    request: PageRequest,
  ): Promise<Page<StarrerRow>> {
    const list = new ListQuery<StarrerRow>({
      name: 'starrers',
      from: 'users u',
      columns: `s.created_at as starred_since, ${userSummaryJsonSql('u')} as "user"`,
      joins: 'join project_stars s on s.user_id = u.id and s.project_id = $1',
      values: [projectId],
    })
      .fromSource({ from: 'project_stars s join users u on u.id = s.user_id' })
      .where(`s.project_id = $1 and u.state = 'active'`)
      .where((bind) => isUserVisibleSql(viewer, bind))
      .narrow({ search: createUserSearchFilter(viewer, 'u') }, params)
      .orderBy([['s.created_at', 'desc']], 's.user_id');
    if (!viewer.isAdmin) {
      list.where((bind) => `(not u.private_profile or u.id = ${bind(viewer.userId, 'viewer')}::bigint)`);
    }
    return list.readPage(this.db, request);
  }
}
