import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { Filters, OrderTerm, SqlReader, Sort, Tx } from '@rookery/persistence';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { UserKind } from '../users/user.entity';
import type { TokenRow } from './access-token.entity';

/** Filters of all lists of tokens. Source: requirements 2 §4 Group access tokens. */
export interface TokenFilters {
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly last_used_after?: Date;
  readonly last_used_before?: Date;
  readonly expires_after?: string;
  readonly expires_before?: string;
  readonly revoked?: boolean;
  readonly search?: string;
  /** `created`, `expires`, `last_used` or `name`, followed by `_asc` or `_desc`. Any other value sorts by id. */
  readonly sort?: string;
  readonly state?: 'active' | 'inactive';
}

/** A token whose row this transaction has locked. */
export interface LockedToken extends TokenRow {
  readonly holder_kind: UserKind;
}

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;
/** Condition on `t`: neither revoked nor expired. */
const ACTIVE = `(not t.revoked and (t.expires_on is null or t.expires_on > ${TODAY}))`;
/**
 * Condition on `t` and its holder `u`: an administrator issued the token to another human user, who has not rotated it
 * since. Bots do not count, because their group is responsible for their tokens. Source: reference identity-and-import
 * 4.7.
 */
export const ISSUED_TO_OTHERS = `(u.kind = 'human' and t.created_by_id <> t.user_id)`;
/** Columns of a token `t`. */
export const TOKEN_COLUMNS = `t.id, t.user_id, t.name, t.description, t.scopes, t.impersonation, t.expires_on, t.revoked, t.last_used_at,
  t.last_used_ips, t.previous_token_id, t.family_id, t.created_by_id, t.resource_type, t.resource_id, t.access_level,
  t.created_at, t.updated_at, ${ACTIVE} as active`;
/** First key of the advisory locks of rotations; the second is the id of a family. */
const ROTATION_LOCK = 731_642_012;
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

  /** Lists tokens. `userId` is null for the tokens of all users. */
  list(
    of: { readonly userId: number | null; readonly impersonation: boolean },
    filters: TokenFilters,
    request: PageRequest,
  ): Promise<Page<TokenRow>> {
    const list = new ListQuery<TokenRow>({ name: 'tokens', from: 'access_tokens t', columns: TOKEN_COLUMNS })
      .where(of.impersonation ? 't.impersonation' : 'not t.impersonation')
      .narrow(TOKEN_FILTERS, filters)
      .orderBy(tokenOrder(filters.sort));
    if (of.userId !== null) list.where((bind) => `t.user_id = ${bind(of.userId)}`);
    return list.readPage(this.db, request);
  }

  async findToken(id: number, reads: SqlReader = this.db): Promise<TokenRow | null> {
    const list = new ListQuery<TokenRow>({ name: 'tokens', from: 'access_tokens t', columns: TOKEN_COLUMNS });
    return (await list.where((bind) => `t.id = ${bind(id)}`).readOne(reads)) ?? null;
  }

  /**
   * Tries to lock the family of a token for a rotation, until the end of the transaction. It never waits. Row locks
   * would not do, because recording the use of a token takes them too. Returns false if another transaction holds the
   * lock; true for an unknown token.
   */
  async tryLockFamily(tx: Tx, id: number): Promise<boolean> {
    const rows = await tx.query<{ is_first: boolean }>(
      `select pg_try_advisory_xact_lock($2, (family_id % 2147483647)::int) as is_first from access_tokens where id = $1`,
      [id, ROTATION_LOCK],
    );
    return rows[0]?.is_first ?? true;
  }

  /** Locks a family of tokens against rotations until the end of the transaction. Waits for a rotation in progress. */
  async lockFamily(tx: Tx, familyId: number): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock($2, ($1::bigint % 2147483647)::int)`, [familyId, ROTATION_LOCK]);
  }

  /**
   * Whether the token was rotated by a request with this idempotency key that it authenticated itself, whose answer is
   * still stored and whose successor was neither rotated nor revoked since.
   */
  async isRotatedBy(tokenId: number, key: string, now: Date): Promise<boolean> {
    const rows = await this.db.query(
      `select 1 from access_tokens t join access_tokens s on s.previous_token_id = t.id and not s.revoked
         join idempotency_keys k on k.user_id = t.user_id and k.key = $2 and k.token_id = t.id
       where t.id = $1 and k.answer is not null and k.answer_until > $3`,
      [tokenId, key, now],
    );
    return rows.length > 0;
  }

  /**
   * Returns the id of the token's family if any of its tokens is not revoked, or null. A family of revoked tokens never
   * becomes active again.
   */
  async activeFamilyId(tokenId: number): Promise<number | null> {
    const rows = await this.db.query<{ family_id: number }>(
      `select t.family_id from access_tokens t where t.id = $1
         and exists (select 1 from access_tokens f where f.family_id = t.family_id and not f.revoked)`,
      [tokenId],
    );
    return rows[0]?.family_id ?? null;
  }

  /** Locks the row of the token until the end of the transaction. */
  async lockToken(tx: Tx, id: number): Promise<LockedToken | null> {
    const rows = await tx.query<LockedToken>(
      `select ${TOKEN_COLUMNS}, (select u.kind from users u where u.id = t.user_id) as holder_kind
       from access_tokens t where t.id = $1 for update`,
      [id],
    );
    return rows[0] ?? null;
  }
}

/** Filters of lists of tokens `t`. */
export const TOKEN_FILTERS: Filters<TokenFilters> = {
  created_after: filter.compares('t.created_at', '>'),
  created_before: filter.compares('t.created_at', '<'),
  last_used_after: filter.compares('t.last_used_at', '>'),
  last_used_before: filter.compares('t.last_used_at', '<'),
  expires_after: filter.compares('t.expires_on', '>'),
  expires_before: filter.compares('t.expires_on', '<'),
  revoked: filter.whether('t.revoked'),
  search: filter.contains('t.name'),
  state: (state) => (state === 'active' ? ACTIVE : `not ${ACTIVE}`),
};

/** Order by `sort`. An unknown value sorts by id. */
export function tokenOrder(sort: string | undefined): readonly OrderTerm[] {
  const match = /^(created|expires|last_used|name)_(asc|desc)$/.exec(sort ?? '');
  if (!match) return [['t.id', 'asc']];
  const [, column, direction] = match as unknown as [string, keyof typeof COLUMNS, Sort];
  return [[COLUMNS[column], direction, 'nulls last']];
}
