import { Injectable } from '@nestjs/common';
import { groupLevelSql } from '@rookery/directory';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { COUNT_LIMIT, offsetOf, pageOf } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { OWN_TABLES } from '../scope/reach-sql';
import { userFaceSql } from '../users/users.queries';
import type { MemberFilters } from './member-filters';
import type { MemberRow } from './member-row';
import type { MemberSource } from './member-source';
import type { Named } from './people-named';

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;
const live = (alias: string) => `(${alias}.expires_on is null or ${alias}.expires_on > ${TODAY})`;

const SHOWN = `u.id, u.username, u.name, u.state, u.avatar_url, u.public_email, m.id as membership_id,
  m.access_level, m.created_at as member_since, m.expires_on, m.updated_at as changed_at,
  (select ${userFaceSql('c')} from users c where c.id = m.created_by_id) as created_by`;

/** Somebody who can be a member. */
export interface KnownUser {
  readonly id: number;
  readonly username: string;
}

/** Reads of members. A membership that ran out is none. Source: reference identity-and-import 2.8. */
@Injectable()
export class MembersQueries {
  constructor(private readonly db: Database) {}

  /** Direct members, in the order in which they came. */
  direct(viewer: Viewer, source: MemberSource, params: MemberFilters, request: PageRequest): Promise<Page<MemberRow>> {
    const statement = new ListStatement();
    statement.where(`m.source_type = '${source.type}' and m.source_id = ${statement.bind(source.id)} and ${live('m')}`);
    for (const condition of narrowing(statement, viewer, params)) statement.filter(condition);
    const show = (ids: string) =>
      `select ${SHOWN} from (${ids}) cut join members m on m.id = cut.id join users u on u.id = m.user_id order by cut.position`;
    return statement.page<MemberRow>(
      this.db,
      { name: 'members', from: 'members m', key: 'm.id', order: 'm.id', show },
      request,
    );
  }

  /** A direct member. Shape: null when the membership is over, unless it is shown even so. */
  async one(
    source: MemberSource,
    userId: number,
    runner: Pick<Tx, 'query'> = this.db,
    shown: 'unless over' | 'even over' = 'unless over',
  ): Promise<MemberRow | null> {
    const rows = await runner.query<MemberRow>(
      `select ${SHOWN} from members m join users u on u.id = m.user_id
       where m.source_type = $1 and m.source_id = $2 and m.user_id = $3${shown === 'even over' ? '' : ` and ${live('m')}`}`,
      [source.type, source.id, userId],
    );
    return rows[0] ?? null;
  }

  /** Who is named; null also for users that stand for nobody. */
  async person(tx: Tx, who: Named): Promise<KnownUser | null> {
    const [user] = await tx.query<KnownUser>(
      `select id, username from users where ${'id' in who ? 'id = $1' : 'lower(username) = lower($1)'}
         and kind not in ('ghost', 'placeholder')`,
      ['id' in who ? who.id : who.username],
    );
    return user ?? null;
  }

  /**
   * Everybody who has a level here: direct, inherited, by an invited group. One entry a person, with the highest
   * level, in the order of user ids. Each source gives at most as many people as the page reaches.
   */
  async all(
    viewer: Viewer,
    source: MemberSource,
    params: MemberFilters,
    request: PageRequest,
  ): Promise<Page<MemberRow>> {
    if (params.state === 'awaiting') return { rows: [], total: 0, hasNext: false };
    const offset = offsetOf(request);
    const rows = await this.effective<MemberRow>(viewer, source, params, {
      upTo: offset + request.perPage + 1,
      select: (held) => `select ${SHOWN} from (${held} offset ${offset} limit ${request.perPage + 1}) m
        join users u on u.id = m.user_id order by m.user_id`,
    });
    const [counted] = await this.effective<{ counted: number }>(viewer, source, params, {
      upTo: COUNT_LIMIT + 1,
      select: (held) => `select count(*)::int as counted from (${held} limit ${COUNT_LIMIT + 1}) c`,
    });
    return pageOf(request, rows, counted!.counted);
  }

  async oneOfAll(viewer: Viewer, source: MemberSource, userId: number): Promise<MemberRow | null> {
    const params = { user_ids: [userId] };
    const rows = await this.effective<MemberRow>(viewer, source, params, {
      upTo: 1,
      select: (held) => `select ${SHOWN} from (${held}) m join users u on u.id = m.user_id`,
    });
    return rows[0] ?? null;
  }

  private effective<R>(
    viewer: Viewer,
    source: MemberSource,
    params: MemberFilters,
    how: { readonly upTo: number; readonly select: (held: string) => string },
  ): Promise<R[]> {
    const statement = new ListStatement();
    const namespaces = `${statement.bind(source.traversalIds)}::bigint[]`;
    const projectId = statement.bind(source.type === 'project' ? source.id : null);
    const narrow = narrowing(statement, viewer, params)
      .map((condition) => ` and ${condition}`)
      .join('');
    const invitedShown = invitedIsShown(statement, viewer, source);
    const held = `
      with source as (
        select 'namespace' as type, id, 50 as cap, false as invited from unnest(${namespaces}) id
        union all select 'project', ${projectId}::bigint, 50, false where ${projectId}::bigint is not null
        union all select 'namespace', above.id, s.access_level, true from shares s
          join namespaces g on g.id = s.group_id cross join unnest(g.traversal_ids) above(id)
          where ${live('s')} and ${invitedShown} and ((s.source_type = 'namespace' and s.source_id = any(${namespaces}))
            or (s.source_type = 'project' and s.source_id = ${projectId}::bigint))
      )
      select distinct on (m.user_id) m.* from source cross join lateral (
        select m.id, m.user_id, least(m.access_level, source.cap) as access_level, m.created_at, m.updated_at,
          m.expires_on, m.created_by_id
        from members m where m.source_type = source.type and m.source_id = source.id and ${live('m')}${narrow}
        order by m.user_id limit ${how.upTo}
      ) m order by m.user_id, m.access_level desc, source.invited, m.id`;
    return this.db.query<R>(how.select(held), statement.values);
  }
}

/**
 * Whether the viewer is shown the people of an invited group `g`: whoever belongs to the source is, others when they may
 * see that group. Source: ADR 0140.
 */
function invitedIsShown(statement: ListStatement, viewer: Viewer, source: MemberSource): string {
  if (viewer.isAdmin || source.level > 0) return 'true';
  if (viewer.userId === null) return `g.visibility = 'public'`;
  const open = viewer.isExternal ? `g.visibility = 'public'` : `g.visibility <> 'private'`;
  const user = `${statement.bind(viewer.userId)}::bigint`;
  return `(${open} or ${groupLevelSql({ user, namespace: 'g', tables: OWN_TABLES })} >= 10)`;
}

/** Conditions on `m` by the person. Only administrators find people by a part of their private address. */
function narrowing(statement: ListStatement, viewer: Viewer, params: MemberFilters): string[] {
  const conditions: string[] = [];
  if (params.user_ids?.length) conditions.push(`m.user_id = any(${statement.bind(params.user_ids)}::bigint[])`);
  if (params.skip_users?.length) conditions.push(`m.user_id <> all(${statement.bind(params.skip_users)}::bigint[])`);
  if (params.query) {
    const pattern = statement.bind(containing(params.query));
    const email = viewer.isAdmin
      ? `f.email ilike ${pattern}`
      : `lower(f.email) = lower(${statement.bind(params.query)})`;
    conditions.push(`exists (select 1 from users f where f.id = m.user_id
      and (f.name ilike ${pattern} or f.username ilike ${pattern} or ${email}))`);
  }
  return conditions;
}
