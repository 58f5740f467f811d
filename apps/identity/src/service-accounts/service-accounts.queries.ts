import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';

/** A service account as the statements of this room read it. */
export interface ServiceAccountRow {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  /** A chosen address that nobody has confirmed yet. */
  readonly unconfirmed_email: string | null;
}

/** Whose accounts: those of one group, or all of the instance. */
export type AccountsOf = number | 'instance';

export interface AccountOrder {
  readonly order_by: 'id' | 'username';
  readonly sort: 'asc' | 'desc';
}

const SHOWN = `u.id, u.username, u.name, u.email,
  (select e.email from emails e where e.user_id = u.id and e.confirmed_at is null and (e.is_primary or e.becomes_primary)
    order by e.becomes_primary desc limit 1) as unconfirmed_email`;
/** Whoever is on his way out is gone for everybody else. */
const STAYS = 'not exists (select 1 from user_removals r where r.user_id = s.user_id)';

/** Reads of service accounts. Source: reference identity-and-import 5. */
@Injectable()
export class ServiceAccountsQueries {
  constructor(private readonly db: Database) {}

  page(of: AccountsOf, { order_by, sort }: AccountOrder, request: PageRequest): Promise<Page<ServiceAccountRow>> {
    const statement = new ListStatement().where(STAYS);
    if (of !== 'instance') statement.where(`s.group_id = ${statement.bind(of)}`);
    return statement.page<ServiceAccountRow>(
      this.db,
      {
        name: 'service-accounts',
        from: 'service_accounts s join users u on u.id = s.user_id',
        key: 's.user_id',
        order: order_by === 'id' ? `s.user_id ${sort}` : `u.username ${sort}, s.user_id ${sort}`,
        show: (ids) => `select ${SHOWN} from (${ids}) cut join users u on u.id = cut.id order by cut.position`,
      },
      request,
    );
  }

  async one(of: AccountsOf, userId: number): Promise<ServiceAccountRow | null> {
    const rows = await this.db.query<ServiceAccountRow>(
      `select ${SHOWN} from service_accounts s join users u on u.id = s.user_id
       where s.user_id = $1 and ($2::bigint is null or s.group_id = $2) and ${STAYS}`,
      [userId, of === 'instance' ? null : of],
    );
    return rows[0] ?? null;
  }
}
