import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { MembershipRow } from './membership-row';

/** Direct memberships of one person, the oldest first. Source: reference identity-and-import 10.1. */
@Injectable()
export class UserMembershipsQueries {
  constructor(private readonly db: Database) {}

  /** Errors: NotFound for the user. */
  async page(
    userId: number,
    type: 'Namespace' | 'Project' | undefined,
    request: PageRequest,
  ): Promise<Page<MembershipRow>> {
    const [user] = await this.db.query(`select 1 from users where id = $1`, [userId]);
    if (!user) throw new NotFound('User');
    const statement = new ListStatement();
    statement.where(`m.user_id = ${statement.bind(userId)}`);
    statement.where(`(m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)`);
    if (type) statement.filter(`m.source_type = ${statement.bind(type.toLowerCase())}`);
    const show = (ids: string): string =>
      `select m.source_id, m.source_type, m.access_level, coalesce(n.name, p.name) as source_name
       from (${ids}) cut join members m on m.id = cut.id
       left join namespaces n on m.source_type = 'namespace' and n.id = m.source_id
       left join projects p on m.source_type = 'project' and p.id = m.source_id order by cut.position`;
    const list = { name: 'user-memberships', from: 'members m', key: 'm.id', order: 'm.id', show };
    return statement.page<MembershipRow>(this.db, list, request);
  }
}
