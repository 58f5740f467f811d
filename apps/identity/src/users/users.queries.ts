import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, filter, ListQuery, prepareStatement } from '@rookery/persistence';
import type { Filters } from '@rookery/persistence';
import { customAttributesFilter, customAttributesSql } from '../custom-attributes/custom-attributes-sql';
import { isUserVisibleSql } from './bot-home';
import { BOTS } from './bot-external-flag';
import { createUserSearchFilter } from './user-search-filter';
import type { UserSummary, UserRow } from './user.entity';

/** Filters of the list of users. Source: reference identity-and-import 10.1. */
export interface UserFilters {
  readonly username?: string;
  readonly search?: string;
  readonly active?: boolean;
  readonly blocked?: boolean;
  readonly external?: boolean;
  readonly humans?: boolean;
  readonly exclude_active?: boolean;
  readonly exclude_external?: boolean;
  readonly exclude_humans?: boolean;
  readonly exclude_internal?: boolean;
  readonly without_project_bots?: boolean;
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly extern_uid?: string;
  readonly provider?: string;
  readonly two_factor?: 'enabled' | 'disabled';
  readonly without_projects?: boolean;
  readonly admins?: boolean;
  readonly with_custom_attributes: boolean;
  readonly custom_attributes?: Readonly<Record<string, string | null>>;
  readonly order_by: 'id' | 'name' | 'username' | 'created_at' | 'updated_at';
  readonly sort: 'asc' | 'desc';
}

const SHOWN = `u.id, u.username, u.name, u.email, u.confirmed_at, u.state, u.kind, u.admin, u.external, u.private_profile,
  u.avatar_url, u.public_email, u.commit_email, u.can_create_group, u.projects_limit, u.note, u.profile, u.created_by_id,
  u.last_sign_in_at, u.current_sign_in_at, u.sign_in_count, u.last_activity_on, u.created_at, u.updated_at,
  (select n.id from namespaces n where n.owner_id = u.id) as namespace_id,
  (select n.plan from namespaces n where n.owner_id = u.id) as plan,
  (select ${userSummaryJsonSql('c')} from users c where c.id = u.created_by_id) as created_by,
  coalesce((select json_agg(json_build_object('provider', i.provider, 'extern_uid', i.extern_uid) order by i.id)
    from identities i where i.user_id = u.id), '[]') as identities`;

const NOT_INTERNAL = `u.kind not in ('ghost', 'placeholder')`;
const ATTRIBUTES = `, ${customAttributesSql('user', 'u.id')} as custom_attributes`;
const ONE = prepareStatement('users-one', `select ${SHOWN} from users u where u.id = $1`);
const ONE_WITH_ATTRIBUTES = prepareStatement(
  'users-one-attributes',
  `select ${SHOWN}${ATTRIBUTES} from users u where u.id = $1`,
);

/** SQL: the fields of a summary as one JSON value. `alias` is the alias of a row of users. */
export function userSummaryJsonSql(alias: string): string {
  return `json_build_object('id', ${alias}.id, 'username', ${alias}.username, 'name', ${alias}.name, 'state', ${alias}.state,
    'avatar_url', ${alias}.avatar_url, 'public_email', ${alias}.public_email)`;
}

/** Reads of users. Source: reference identity-and-import 10.1. */
@Injectable()
export class UsersQueries {
  constructor(private readonly db: Database) {}

  async findUser(id: number, withAttributes = false): Promise<UserRow | null> {
    return (await this.db.prepared<UserRow>(withAttributes ? ONE_WITH_ATTRIBUTES : ONE, [id]))[0] ?? null;
  }

  /** Finds a user by id, or as in `byIdOrUsername`, if the viewer can see that user. */
  async findVisible(viewer: Viewer, ref: number | string): Promise<UserRow | null> {
    const user = await (typeof ref === 'number' ? this.findUser(ref) : this.byIdOrUsername(ref));
    if (user?.kind !== 'project_bot' || user.id === viewer.userId) return user;
    const list = new ListQuery<{ id: number }>({ name: 'users', from: 'users u', columns: 'u.id' });
    const isKnown = await list
      .where((bind) => `u.id = ${bind(user.id)}`)
      .where((bind) => isUserVisibleSql(viewer, bind))
      .readOne(this.db);
    return isKnown ? user : null;
  }

  /**
   * Finds a user by id or username. Digits always are an id: otherwise a user could take the id of a deleted user as
   * username and receive its requests.
   */
  async byIdOrUsername(ref: string): Promise<UserRow | null> {
    if (/^\d+$/.test(ref)) return /^[1-9]\d{0,14}$/.test(ref) ? this.findUser(Number(ref)) : null;
    // PostgreSQL does not accept NUL in texts, and no username contains it.
    if (ref.includes('\0')) return null;
    const rows = await this.db.query<UserRow>(`select ${SHOWN} from users u where lower(u.username) = lower($1)`, [
      ref,
    ]);
    return rows[0] ?? null;
  }

  /** Whether the user who created the bot is external, which makes the bot external. */
  async isOfExternal(botId: number): Promise<boolean> {
    const rows = await this.db.query(
      `select 1 from users b join users m on m.id = b.created_by_id where b.id = $1 and b.kind in ${BOTS} and m.external`,
      [botId],
    );
    return rows.length > 0;
  }

  async findSummaries(ids: readonly number[]): Promise<ReadonlyMap<number, UserSummary>> {
    const rows = await this.db.query<UserSummary>(
      `select id, username, name, state, avatar_url, public_email from users where id = any($1)`,
      [ids],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  list(viewer: Viewer, params: UserFilters, request: PageRequest): Promise<Page<UserRow>> {
    const column = viewer.isAdmin ? params.order_by : 'id';
    return usersQuery(viewer, params)
      .orderBy([[`u.${column}`, params.sort]])
      .readPage(this.db, request);
  }

  /**
   * Returns up to `perPage + 1` rows after a position in the list. `cursor` is a result of `toCursor`, or null for the
   * start.
   */
  listAfter(
    viewer: Viewer,
    params: UserFilters,
    perPage: number,
    cursor: Readonly<Record<string, unknown>> | null,
  ): Promise<UserRow[]> {
    const key = viewer.isAdmin ? toKeysetSortKey(params.order_by) : 'id';
    const list = usersQuery(viewer, params).orderBy([[`u.${key}`, params.sort]]);
    if (cursor !== null) list.startAfter(key === 'id' ? [cursor['id']] : [cursor['value'], cursor['id']]);
    return list.readRows(this.db, perPage);
  }

  toCursor(params: UserFilters, last: UserRow): { id: number; value?: string } {
    const key = toKeysetSortKey(params.order_by);
    return key === 'id' ? { id: last.id } : { id: last.id, value: last[key] };
  }
}

function usersQuery(viewer: Viewer, params: UserFilters): ListQuery<UserRow> {
  const columns = viewer.isAdmin && params.with_custom_attributes ? `${SHOWN}${ATTRIBUTES}` : SHOWN;
  return new ListQuery<UserRow>({ name: 'users', from: 'users u', columns })
    .narrow({ ...FILTERS, search: createUserSearchFilter(viewer, 'u') }, params)
    .narrow(viewer.isAdmin ? FILTERS_OF_ADMINISTRATORS : {}, params)
    .where((bind) => isUserVisibleSql(viewer, bind));
}

const FILTERS: Filters<UserFilters> = {
  username: (name, bind) => `lower(u.username) = lower(${bind(name)})`,
  active: filter.when(`u.state = 'active' and ${NOT_INTERNAL}`),
  exclude_active: filter.when(`u.state <> 'active'`),
  blocked: filter.when(`u.state = 'blocked'`),
  humans: filter.when(`u.kind = 'human'`),
  exclude_humans: filter.when(`u.kind <> 'human'`),
  exclude_internal: filter.when(NOT_INTERNAL),
  without_project_bots: filter.when(`u.kind <> 'project_bot'`),
};

/** Filters by values that the list does not show to other callers, or not for all users. */
const FILTERS_OF_ADMINISTRATORS: Filters<UserFilters> = {
  created_after: filter.compares('u.created_at', '>'),
  created_before: filter.compares('u.created_at', '<'),
  external: filter.when('u.external'),
  exclude_external: filter.when('not u.external'),
  admins: filter.when('u.admin'),
  custom_attributes: customAttributesFilter('user', 'u.id'),
  two_factor: (state) => state === 'enabled' && 'false',
  without_projects: filter.when(
    `not exists (select 1 from members m where m.user_id = u.id and m.source_type = 'project')
     and not exists (select 1 from projects p where p.creator_id = u.id)`,
  ),
  extern_uid: (uid, bind, { provider = '' }) =>
    uid !== '' &&
    provider !== '' &&
    `exists (select 1 from identities i
      where i.user_id = u.id and i.extern_uid = ${bind(uid)} and i.provider = ${bind(provider)})`,
};

/** Keyset pagination exists only in these orders. */
function toKeysetSortKey(column: UserFilters['order_by']): 'id' | 'name' | 'username' {
  return column === 'name' || column === 'username' ? column : 'id';
}
