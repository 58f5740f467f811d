import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';

/** A direct membership of a user. */
export interface MembershipRow {
  readonly source_id: number;
  readonly source_name: string;
  readonly source_type: 'namespace' | 'project';
  readonly access_level: number;
}

/** Direct memberships of a user, oldest first. Source: reference identity-and-import 10.1. */
@Injectable()
export class UserMembershipsQueries {
  constructor(private readonly db: Database) {}

  /** Errors: NotFound for the user. */
  async list(
    userId: number,
    type: 'Namespace' | 'Project' | undefined,
    request: PageRequest,
  ): Promise<Page<MembershipRow>> {
    const [user] = await this.db.query(`select 1 from users where id = $1`, [userId]);
    if (!user) throw new NotFound('User');
    const list = new ListQuery<MembershipRow>({
      name: 'user-memberships',
      from: 'members m',
      columns: 'm.source_id, m.source_type, m.access_level, coalesce(n.name, p.name) as source_name',
      joins: `left join namespaces n on m.source_type = 'namespace' and n.id = m.source_id
        left join projects p on m.source_type = 'project' and p.id = m.source_id`,
    })
      .where((bind) => `m.user_id = ${bind(userId)}`)
      .where(isMembershipOrShareUnexpiredSql('m'));
    if (type) list.filter((bind) => `m.source_type = ${bind(type.toLowerCase())}`);
    return list.readPage(this.db, request);
  }
}
