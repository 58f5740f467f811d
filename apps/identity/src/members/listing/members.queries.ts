import { Injectable } from '@nestjs/common';
import { groupLevelSql } from '@rookery/directory';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { Bind, Filters, Reads, RowOf, Tx } from '@rookery/persistence';
import { live, OWN_TABLES } from '../../directory/reach/reach-sql';
import { botOfGroupsSql, knownUserSql } from '../../users/bot-home';
import { personSearch } from '../../users/person-search';
import { userFaceSql } from '../../users/users.queries';
import type { Member } from '../member.entity';
import type { MemberSource } from './member-source';
import type { Named } from './people-named';
import type { UserFace } from '../../users/user.entity';

/** What a list of members can be narrowed by. Source: reference identity-and-import 2.8. */
export interface MemberFilters {
  readonly query?: string;
  readonly user_ids?: readonly number[];
  readonly skip_users?: readonly number[];
  readonly state?: 'awaiting' | 'active';
}

/** A membership with its person, as statements read it. */
export interface MemberRow extends UserFace, RowOf<Member, 'accessLevel' | 'expiresOn'> {
  readonly membership_id: number;
  readonly member_since: Date;
  readonly created_by: UserFace | null;
  readonly changed_at: Date;
}

const PARTS = {
  from: 'members m',
  columns: `u.id, u.username, u.name, u.state, u.avatar_url, u.public_email, m.id as membership_id,
    m.access_level, m.created_at as member_since, m.expires_on, m.updated_at as changed_at,
    (select ${userFaceSql('c')} from users c where c.id = m.created_by_id) as created_by`,
  joins: 'join users u on u.id = m.user_id',
};

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
    return directMembers(source).where(live('m')).narrow(filtersOf(viewer), params).page(this.db, request);
  }

  /** A direct member. Shape: null when the membership is over, unless it is shown even so. */
  async one(
    source: MemberSource,
    userId: number,
    reads: Reads = this.db,
    shown: 'unless over' | 'even over' = 'unless over',
  ): Promise<MemberRow | null> {
    const list = directMembers(source).where((bind) => `m.user_id = ${bind(userId, 'user')}`);
    if (shown === 'unless over') list.where(live('m'));
    return (await list.one(reads)) ?? null;
  }

  /**
   * Who is named; null also for users that stand for nobody, and for bots of which the viewer knows neither by the place
   * where they belong nor since they are members here by it.
   */
  async person(tx: Tx, viewer: Viewer, source: MemberSource, who: Named): Promise<KnownUser | null> {
    const list = new ListQuery<KnownUser>({ name: 'member_named', from: 'users u', columns: 'u.id, u.username' });
    const found = await list
      .where((bind) =>
        'id' in who ? `u.id = ${bind(who.id, 'user')}` : `lower(u.username) = lower(${bind(who.username, 'username')})`,
      )
      .where(() => `u.kind not in ('ghost', 'placeholder')`)
      .where((bind) => `(${knownUserSql(viewer, bind)} or ${botOfGroupsSql(bind(source.traversalIds, 'namespaces'))})`)
      .one(tx);
    return found ?? null;
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
    return effectiveMembers(viewer, source, params).page(this.db, request);
  }

  async oneOfAll(viewer: Viewer, source: MemberSource, userId: number): Promise<MemberRow | null> {
    const [found] = await effectiveMembers(viewer, source, { user_ids: [userId] }).rows(this.db, 1);
    return found ?? null;
  }
}

function directMembers({ type, id }: MemberSource): ListQuery<MemberRow> {
  return new ListQuery<MemberRow>({ ...PARTS, name: 'members' }).where(
    (bind) => `m.source_type = '${type}' and m.source_id = ${bind(id, 'source')}`,
  );
}

function effectiveMembers(viewer: Viewer, source: MemberSource, params: MemberFilters): ListQuery<MemberRow> {
  const list = new ListQuery<MemberRow>({ ...PARTS, name: 'members-all', key: 'm.user_id', carries: 'm.*' });
  const namespaces = `${list.bind(source.traversalIds, 'namespaces')}::bigint[]`;
  const projectId = `${list.bind(source.type === 'project' ? source.id : null, 'project')}::bigint`;
  const narrowed = [live('m'), ...list.asked(filtersOf(viewer), params)].join(' and ');
  const invitedShown = invitedIsShown(list.bind, viewer, source);
  const held = (count: number) => `(
    with source as (
      select 'namespace' as type, id, 50 as cap, false as invited from unnest(${namespaces}) id
      union all select 'project', ${projectId}, 50, false where ${projectId} is not null
      union all select 'namespace', above.id, s.access_level, true from shares s
        join namespaces g on g.id = s.group_id cross join unnest(g.traversal_ids) above(id)
        where ${live('s')} and ${invitedShown} and ((s.source_type = 'namespace' and s.source_id = any(${namespaces}))
          or (s.source_type = 'project' and s.source_id = ${projectId}))
    )
    select distinct on (m.user_id) m.* from source cross join lateral (
      select m.id, m.user_id, least(m.access_level, source.cap) as access_level, m.created_at, m.updated_at,
        m.expires_on, m.created_by_id
      from members m where m.source_type = source.type and m.source_id = source.id and ${narrowed}
      order by m.user_id limit ${count}
    ) m order by m.user_id, m.access_level desc, source.invited, m.id) m`;
  return list.among({ from: held(COUNT_LIMIT + 1), first: held });
}

/**
 * Whether the viewer is shown the people of an invited group `g`: members of the source are, others when they may
 * see that group. Source: reference identity-and-import 2.8.
 */
function invitedIsShown(bind: Bind, viewer: Viewer, source: MemberSource): string {
  if (viewer.isAdmin || source.level > 0) return 'true';
  if (viewer.userId === null) return `g.visibility = 'public'`;
  const open = viewer.isExternal ? `g.visibility = 'public'` : `g.visibility <> 'private'`;
  const user = `${bind(viewer.userId, 'viewer')}::bigint`;
  return `(${open} or ${groupLevelSql({ user, namespace: 'g', tables: OWN_TABLES })} >= 10)`;
}

/** Conditions on `m` by the person. */
function filtersOf(viewer: Viewer): Filters<MemberFilters> {
  const search = personSearch(viewer, 'f', 'in part');
  return {
    user_ids: (ids, bind) => ids.length > 0 && `m.user_id = any(${bind(ids)}::bigint[])`,
    skip_users: filter.noneOf('m.user_id'),
    query: (text, bind, asked) => {
      const fits = search(text, bind, asked);
      return fits && `exists (select 1 from users f where f.id = m.user_id and ${fits})`;
    },
  };
}
