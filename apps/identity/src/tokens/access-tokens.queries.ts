import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import type { TokenFilters } from './token-filters';
import type { TokenRow } from './token-row';

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;
/** A condition on `t`: neither revoked nor over. */
export const ACTIVE = `(not t.revoked and (t.expires_on is null or t.expires_on > ${TODAY}))`;
/** What is read of a token `t`. */
export const TOKEN_COLUMNS = `t.id, t.user_id, t.name, t.description, t.scopes, t.impersonation, t.expires_on, t.revoked, t.last_used_at,
  t.last_used_ips, t.previous_token_id, t.family_id, t.created_by_id, t.resource_type, t.resource_id, t.access_level,
  t.created_at, t.updated_at, ${ACTIVE} as active`;
const COLUMNS = {
  created: 't.created_at',
  expires: 't.expires_on',
  last_used: 't.last_used_at',
  name: 'lower(t.name)',
} as const;

/** Reads of access tokens. Source: reference identity-and-import 4.7. */
@Injectable()
export class AccessTokensQueries {
  constructor(private readonly db: Database) {}

  /** Shape: `userId` null = the tokens of everybody. */
  page(
    of: { readonly userId: number | null; readonly impersonation: boolean },
    filters: TokenFilters,
    request: PageRequest,
  ): Promise<Page<TokenRow>> {
    const statement = new ListStatement().where(of.impersonation ? 't.impersonation' : 'not t.impersonation');
    if (of.userId !== null) statement.where(`t.user_id = ${statement.bind(of.userId)}`);
    narrowTokens(statement, filters);
    return statement.page<TokenRow>(
      this.db,
      {
        name: 'tokens',
        from: 'access_tokens t',
        key: 't.id',
        order: tokenOrder(filters.sort),
        show: (ids) =>
          `select ${TOKEN_COLUMNS} from (${ids}) cut join access_tokens t on t.id = cut.id order by cut.position`,
      },
      request,
    );
  }

  async one(id: number, runner: Pick<Tx, 'query'> = this.db): Promise<TokenRow | null> {
    return (
      (await runner.query<TokenRow>(`select ${TOKEN_COLUMNS} from access_tokens t where t.id = $1`, [id]))[0] ?? null
    );
  }

  /**
   * With the first of its chain locked before it: whatever is done to a family is done one after the other, so that no
   * successor is made of which a revocation of the family does not know.
   */
  async lockedWithFamily(tx: Tx, id: number): Promise<TokenRow | null> {
    await tx.query(
      `select id from access_tokens where id = (select t.family_id from access_tokens t where t.id = $1) for update`,
      [id],
    );
    const rows = await tx.query<TokenRow>(`select ${TOKEN_COLUMNS} from access_tokens t where t.id = $1 for update`, [
      id,
    ]);
    return rows[0] ?? null;
  }
}

/** Adds the conditions of the filters on `t`. */
export function narrowTokens(statement: ListStatement, filters: TokenFilters): void {
  const compare = (column: string, operator: '<' | '>', value: Date | string | undefined): void => {
    if (value !== undefined) statement.filter(`${column} ${operator} ${statement.bind(value)}`);
  };
  compare('t.created_at', '>', filters.created_after);
  compare('t.created_at', '<', filters.created_before);
  compare('t.last_used_at', '>', filters.last_used_after);
  compare('t.last_used_at', '<', filters.last_used_before);
  compare('t.expires_on', '>', filters.expires_after);
  compare('t.expires_on', '<', filters.expires_before);
  if (filters.revoked !== undefined) statement.filter(filters.revoked ? 't.revoked' : 'not t.revoked');
  if (filters.search) statement.filter(`t.name ilike ${statement.bind(containing(filters.search))}`);
  if (filters.state !== undefined) statement.filter(filters.state === 'active' ? ACTIVE : `not ${ACTIVE}`);
}

/** The ORDER BY list for `sort`; an unknown word is by id. */
export function tokenOrder(sort: string | undefined): string {
  const match = /^(created|expires|last_used|name)_(asc|desc)$/.exec(sort ?? '');
  if (!match) return 't.id asc';
  const [, column, direction] = match as unknown as [string, keyof typeof COLUMNS, 'asc' | 'desc'];
  return `${COLUMNS[column]} ${direction} nulls last, t.id ${direction}`;
}
