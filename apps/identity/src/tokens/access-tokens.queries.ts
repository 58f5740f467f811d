import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { Filters, OrderTerm, Reads, Sort, Tx } from '@rookery/persistence';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { UserKind } from '../users/user.entity';
import type { TokenRow } from './access-token.entity';

/** What every list of tokens can be narrowed by. Source: requirements 2 §4 Group access tokens. */
export interface TokenFilters {
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly last_used_after?: Date;
  readonly last_used_before?: Date;
  readonly expires_after?: string;
  readonly expires_before?: string;
  readonly revoked?: boolean;
  readonly search?: string;
  /** `created`, `expires`, `last_used` or `name`, then `_asc` or `_desc`; anything else is by id. */
  readonly sort?: string;
  readonly state?: 'active' | 'inactive';
}

/** A token that nobody else changes now. */
export interface LockedToken extends TokenRow {
  readonly holder_kind: UserKind;
}

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;
/** A condition on `t`: neither revoked nor over. */
export const ACTIVE = `(not t.revoked and (t.expires_on is null or t.expires_on > ${TODAY}))`;
/**
 * A condition on `t` and its holder `u`: an administrator made it for a person, who has not replaced it since. Bots are
 * not people: what may be done with their tokens hangs on their group. Source: reference identity-and-import 4.7.
 */
export const GIVEN_OUT = `(u.kind = 'human' and t.created_by_id <> t.user_id)`;
/** What is read of a token `t`. */
export const TOKEN_COLUMNS = `t.id, t.user_id, t.name, t.description, t.scopes, t.impersonation, t.expires_on, t.revoked, t.last_used_at,
  t.last_used_ips, t.previous_token_id, t.family_id, t.created_by_id, t.resource_type, t.resource_id, t.access_level,
  t.created_at, t.updated_at, ${ACTIVE} as active`;
/** Any number that only rotations use, before the id of a family. */
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

  /** Shape: `userId` null = the tokens of everybody. */
  page(
    of: { readonly userId: number | null; readonly impersonation: boolean },
    filters: TokenFilters,
    request: PageRequest,
  ): Promise<Page<TokenRow>> {
    const list = new ListQuery<TokenRow>({ name: 'tokens', from: 'access_tokens t', columns: TOKEN_COLUMNS })
      .where(of.impersonation ? 't.impersonation' : 'not t.impersonation')
      .narrow(TOKEN_FILTERS, filters)
      .orderBy(tokenOrder(filters.sort));
    if (of.userId !== null) list.where((bind) => `t.user_id = ${bind(of.userId)}`);
    return list.page(this.db, request);
  }

  async one(id: number, reads: Reads = this.db): Promise<TokenRow | null> {
    const list = new ListQuery<TokenRow>({ name: 'tokens', from: 'access_tokens t', columns: TOKEN_COLUMNS });
    return (await list.where((bind) => `t.id = ${bind(id)}`).one(reads)) ?? null;
  }

  /**
   * Whether nobody else is replacing a token of its family; until the end of the transaction nobody else is. It never
   * waits. Locks of rows would not tell that: the record of a token's use takes them, too. Shape: true when there is
   * no such token.
   */
  async isFirstAtFamily(tx: Tx, id: number): Promise<boolean> {
    const rows = await tx.query<{ is_first: boolean }>(
      `select pg_try_advisory_xact_lock($2, (family_id % 2147483647)::int) as is_first from access_tokens where id = $1`,
      [id, ROTATION_LOCK],
    );
    return rows[0]?.is_first ?? true;
  }

  /** Waits until nobody is replacing a token of the family; until the end of the transaction nobody begins to. */
  async untilAloneAtFamily(tx: Tx, familyId: number): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock($2, ($1::bigint % 2147483647)::int)`, [familyId, ROTATION_LOCK]);
  }

  /**
   * Whether the token is gone by a write with this key, which it was itself presented for, whose answer is kept still and
   * whose successor nobody has replaced or revoked since.
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

  /** Id of the family of the token, when any of it still works; null otherwise, and then none ever will. */
  async livingFamily(tokenId: number): Promise<number | null> {
    const rows = await this.db.query<{ family_id: number }>(
      `select t.family_id from access_tokens t where t.id = $1
         and exists (select 1 from access_tokens f where f.family_id = t.family_id and not f.revoked)`,
      [tokenId],
    );
    return rows[0]?.family_id ?? null;
  }

  /** Whoever changes it waits for the end of the transaction. */
  async locked(tx: Tx, id: number): Promise<LockedToken | null> {
    const rows = await tx.query<LockedToken>(
      `select ${TOKEN_COLUMNS}, (select u.kind from users u where u.id = t.user_id) as holder_kind
       from access_tokens t where t.id = $1 for update`,
      [id],
    );
    return rows[0] ?? null;
  }
}

/** What lists of tokens `t` can be narrowed by. */
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

/** By `sort`; an unknown word is by id. */
export function tokenOrder(sort: string | undefined): readonly OrderTerm[] {
  const match = /^(created|expires|last_used|name)_(asc|desc)$/.exec(sort ?? '');
  if (!match) return [['t.id', 'asc']];
  const [, column, direction] = match as unknown as [string, keyof typeof COLUMNS, Sort];
  return [[COLUMNS[column], direction, 'nulls last']];
}
