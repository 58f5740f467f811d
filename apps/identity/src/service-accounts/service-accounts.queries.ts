import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { SqlReader, RowOf } from '@rookery/persistence';
import type { User } from '../users/user.entity';

/** A service account, as statements read it. */
export interface ServiceAccountRow extends RowOf<User, 'id' | 'username' | 'name' | 'email'> {
  /** A chosen address that is not confirmed yet. */
  readonly unconfirmed_email: string | null;
}

/** Group whose accounts are meant, or the whole instance. */
export type ServiceAccountOwner = number | 'instance';

export interface AccountOrder {
  readonly order_by: 'id' | 'username';
  readonly sort: 'asc' | 'desc';
}

const SHOWN = `u.id, u.username, u.name, u.email,
  (select e.email from emails e where e.user_id = u.id and e.confirmed_at is null and (e.is_primary or e.becomes_primary)
    order by e.becomes_primary desc limit 1) as unconfirmed_email`;
/** Reads of service accounts. Source: reference identity-and-import 5. */
@Injectable()
export class ServiceAccountsQueries {
  constructor(private readonly db: Database) {}

  list(
    of: ServiceAccountOwner,
    { order_by, sort }: AccountOrder,
    request: PageRequest,
  ): Promise<Page<ServiceAccountRow>> {
    return accountsQuery(of)
      .orderBy([[`u.${order_by}`, sort]])
      .readPage(this.db, request);
  }

  /** Returns a service account, or null. A transaction that has just written the account passes itself as `through`. */
  async findAccount(
    of: ServiceAccountOwner,
    userId: number,
    through: SqlReader = this.db,
  ): Promise<ServiceAccountRow | null> {
    const found = await accountsQuery(of)
      .where((bind) => `u.id = ${bind(userId)}`)
      .readOne(through);
    return found ?? null;
  }
}

/** Accounts whose removal is in progress are not listed. */
function accountsQuery(of: ServiceAccountOwner): ListQuery<ServiceAccountRow> {
  const list = new ListQuery<ServiceAccountRow>({ name: 'service-accounts', from: 'users u', columns: SHOWN })
    .fromSource({ from: 'service_accounts s join users u on u.id = s.user_id' })
    .where('not exists (select 1 from user_removals r where r.user_id = s.user_id)');
  return of === 'instance' ? list : list.where((bind) => `s.group_id = ${bind(of)}`);
}
