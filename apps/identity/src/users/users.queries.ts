import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';
import { customAttributesSql, filterByCustomAttributes } from '../custom-attributes/custom-attributes-sql';
import { containing, ListStatement } from '../listing/list-statement';
import type { UserFilters } from './user-filters';
import type { UserFace, UserRow } from './user-row';

const SHOWN = `u.id, u.username, u.name, u.email, u.confirmed_at, u.state, u.kind, u.admin, u.external, u.private_profile,
  u.avatar_url, u.public_email, u.commit_email, u.can_create_group, u.projects_limit, u.note, u.profile, u.created_by_id,
  u.last_sign_in_at, u.current_sign_in_at, u.sign_in_count, u.last_activity_on, u.created_at, u.updated_at,
  (select n.id from namespaces n where n.owner_id = u.id) as namespace_id,
  (select n.plan from namespaces n where n.owner_id = u.id) as plan,
  (select ${userFaceSql('c')} from users c where c.id = u.created_by_id) as created_by,
  coalesce((select json_agg(json_build_object('provider', i.provider, 'extern_uid', i.extern_uid) order by i.id)
    from identities i where i.user_id = u.id), '[]') as identities`;

const NOT_INTERNAL = `u.kind not in ('ghost', 'placeholder')`;
const ATTRIBUTES = `, ${customAttributesSql('user', 'u.id')} as custom_attributes`;
const ONE = prepared('users-one', `select ${SHOWN} from users u where u.id = $1`);
const ONE_WITH_ATTRIBUTES = prepared(
  'users-one-attributes',
  `select ${SHOWN}${ATTRIBUTES} from users u where u.id = $1`,
);

/** What a summary shows, as one JSON value of the row. Shape: `alias` names a row of users. */
export function userFaceSql(alias: string): string {
  return `json_build_object('id', ${alias}.id, 'username', ${alias}.username, 'name', ${alias}.name, 'state', ${alias}.state,
    'avatar_url', ${alias}.avatar_url, 'public_email', ${alias}.public_email)`;
}

/** Reads of users. Source: reference identity-and-import 10.1. */
@Injectable()
export class UsersQueries {
  constructor(private readonly db: Database) {}

  async one(id: number, withAttributes = false): Promise<UserRow | null> {
    return (await this.db.prepared<UserRow>(withAttributes ? ONE_WITH_ATTRIBUTES : ONE, [id]))[0] ?? null;
  }

  async byIdOrUsername(ref: string): Promise<UserRow | null> {
    // No name holds a NUL, and PostgreSQL takes none.
    if (ref.includes('\0')) return null;
    const isId = /^[1-9]\d{0,14}$/.test(ref);
    const rows = await this.db.query<UserRow>(
      `select ${SHOWN} from users u where lower(u.username) = lower($1) or u.id = $2
       order by (lower(u.username) = lower($1)) limit 1`,
      [ref, isId ? Number(ref) : null],
    );
    return rows[0] ?? null;
  }

  async faces(ids: readonly number[]): Promise<ReadonlyMap<number, UserFace>> {
    const rows = await this.db.query<UserFace>(
      `select id, username, name, state, avatar_url, public_email from users where id = any($1)`,
      [ids],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  page(viewer: Viewer, params: UserFilters, request: PageRequest): Promise<Page<UserRow>> {
    const { statement, column } = this.statement(viewer, params);
    return statement.page<UserRow>(this.db, this.list(column, viewer, params), request);
  }

  /** The rows after a place in the list, one more than asked for. Shape: `cursor` as `placeOf` made it, null to begin. */
  after(
    viewer: Viewer,
    params: UserFilters,
    perPage: number,
    cursor: Readonly<Record<string, unknown>> | null,
  ): Promise<UserRow[]> {
    const { statement, column } = this.statement(viewer, params);
    const key = keyOf(column);
    if (cursor !== null) {
      const at = statement.bind(cursor['id']);
      const past = params.sort === 'asc' ? '>' : '<';
      statement.filter(
        key === 'id'
          ? `u.id ${past} ${at}::bigint`
          : `(u.${key}, u.id) ${past} (${statement.bind(cursor['value'])}, ${at}::bigint)`,
      );
    }
    return statement.rows<UserRow>(this.db, this.list(key, viewer, params), perPage);
  }

  placeOf(params: UserFilters, last: UserRow): { id: number; value?: string } {
    const key = keyOf(params.order_by);
    return key === 'id' ? { id: last.id } : { id: last.id, value: last[key] };
  }

  private list(column: string, viewer: Viewer, { sort, with_custom_attributes }: UserFilters) {
    const shown = viewer.isAdmin && with_custom_attributes ? `${SHOWN}${ATTRIBUTES}` : SHOWN;
    const order = column === 'id' ? `u.id ${sort}` : `u.${column} ${sort}, u.id ${sort}`;
    const show = (ids: string) =>
      `select ${shown} from (${ids}) cut join users u on u.id = cut.id order by cut.position`;
    return { name: 'users', from: 'users u', key: 'u.id', order, show };
  }

  private statement(
    viewer: Viewer,
    params: UserFilters,
  ): { statement: ListStatement; column: UserFilters['order_by'] } {
    const statement = new ListStatement();
    const add = (sql: string) => void statement.filter(sql);
    if (params.username !== undefined) add(`lower(u.username) = lower(${statement.bind(params.username)})`);
    if (params.search) add(searchSql(statement, params.search, viewer));
    if (params.active) add(`u.state = 'active' and ${NOT_INTERNAL}`);
    if (params.exclude_active) add(`u.state <> 'active'`);
    if (params.blocked) add(`u.state = 'blocked'`);
    if (params.external) add('u.external');
    if (params.exclude_external) add('not u.external');
    if (params.humans) add(`u.kind = 'human'`);
    if (params.exclude_humans) add(`u.kind <> 'human'`);
    if (params.exclude_internal) add(NOT_INTERNAL);
    if (params.without_project_bots) add(`u.kind <> 'project_bot'`);
    if (params.created_after) add(`u.created_at > ${statement.bind(params.created_after)}`);
    if (params.created_before) add(`u.created_at < ${statement.bind(params.created_before)}`);
    if (viewer.isAdmin) this.administratorFilters(statement, params);
    return { statement, column: viewer.isAdmin ? params.order_by : 'id' };
  }

  private administratorFilters(statement: ListStatement, params: UserFilters): void {
    if (params.admins) statement.filter('u.admin');
    filterByCustomAttributes(statement, 'user', 'u.id', params.custom_attributes);
    if (params.two_factor === 'enabled') statement.filter('false');
    if (params.without_projects) {
      statement.filter(
        `not exists (select 1 from members m where m.user_id = u.id and m.source_type = 'project')
         and not exists (select 1 from projects p where p.creator_id = u.id)`,
      );
    }
    if (params.extern_uid && params.provider) {
      const identity = `i.extern_uid = ${statement.bind(params.extern_uid)} and i.provider = ${statement.bind(params.provider)}`;
      statement.filter(`exists (select 1 from identities i where i.user_id = u.id and ${identity})`);
    }
  }
}

/** Keyset lists exist in these orders only. */
function keyOf(column: UserFilters['order_by']): 'id' | 'name' | 'username' {
  return column === 'name' || column === 'username' ? column : 'id';
}

/** Whoever names an address that he has not proven to be his is not found by it, but by administrators. */
function searchSql(statement: ListStatement, search: string, viewer: Viewer): string {
  const pattern = statement.bind(containing(search));
  const whole = statement.bind(search);
  return `(u.name ilike ${pattern} or u.username ilike ${pattern}
    or u.id in (select e.user_id from emails e where lower(e.email) = lower(${whole})
      ${viewer.isAdmin ? '' : 'and e.confirmed_at is not null'}))`;
}
