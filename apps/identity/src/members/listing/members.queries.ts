import { Injectable } from '@nestjs/common';
import { groupAccessLevelSql } from '@rookery/directory';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { Bind, Filters, SqlReader, RowOf, Tx } from '@rookery/persistence';
import { isMembershipOrShareUnexpiredSql, OWN_TABLES } from '../../directory/reach/reach-sql';
import { isTokenBotOfGroupsSql, isUserVisibleSql } from '../../users/bot-home';
import { createUserSearchFilter } from '../../users/user-search-filter';
import { userSummaryJsonSql } from '../../users/users.queries';
import type { Member } from '../member.entity';
import type { MemberSource } from './member-source';
import type { UserReference } from './user-reference';
import type { UserSummary } from '../../users/user.entity';

/** Filters of lists of members. Source: reference identity-and-import 2.8. */
export interface MemberFilters {
  readonly query?: string;
  readonly user_ids?: readonly number[];
  readonly skip_users?: readonly number[];
  readonly state?: 'awaiting' | 'active';
}

/** A membership with its user, as statements read it. */
export interface MemberRow extends UserSummary, RowOf<Member, 'accessLevel' | 'expiresOn'> {
  readonly membership_id: number;
  readonly member_since: Date;
  readonly created_by: UserSummary | null;
  readonly changed_at: Date;
}

const PARTS = {
  from: 'members m',
  columns: `u.id, u.username, u.name, u.state, u.avatar_url, u.public_email, m.id as membership_id,
    m.access_level, m.created_at as member_since, m.expires_on, m.updated_at as changed_at,
    (select ${userSummaryJsonSql('c')} from users c where c.id = m.created_by_id) as created_by`,
  joins: 'join users u on u.id = m.user_id',
};

/** A user who can be a member. */
export interface KnownUser {
  readonly id: number;
  readonly username: string;
}

/** Reads of members. Expired memberships do not count. Source: reference identity-and-import 2.8. */
@Injectable()
export class MembersQueries {
  constructor(private readonly db: Database) {}

  /** Direct members, in the order in which they were added. */
  listDirect(
    viewer: Viewer,
    source: MemberSource,
    params: MemberFilters,
    request: PageRequest,
  ): Promise<Page<MemberRow>> {
    return directMembersQuery(source)
      .where(isMembershipOrShareUnexpiredSql('m'))
      .narrow(memberFilters(viewer), params)
      .readPage(this.db, request);
  }

  /** A direct member. Returns null if the membership has expired and `shown` is not `even expired`. */
  async findMember(
    source: MemberSource,
    userId: number,
    reads: SqlReader = this.db,
    shown: 'unless expired' | 'even expired' = 'unless expired',
  ): Promise<MemberRow | null> {
    const list = directMembersQuery(source).where((bind) => `m.user_id = ${bind(userId, 'user')}`);
    if (shown === 'unless expired') list.where(isMembershipOrShareUnexpiredSql('m'));
    return (await list.readOne(reads)) ?? null;
  }

  /**
   * Returns the user whom a request names, or null. The ghost user and placeholders are never found. A bot that the
   * viewer cannot see is found only if it belongs to the group, a group above it, or one above the project.
   */
  async findUser(tx: Tx, viewer: Viewer, source: MemberSource, who: UserReference): Promise<KnownUser | null> {
    const list = new ListQuery<KnownUser>({ name: 'member_named', from: 'users u', columns: 'u.id, u.username' });
    const found = await list
      .where((bind) =>
        'id' in who ? `u.id = ${bind(who.id, 'user')}` : `lower(u.username) = lower(${bind(who.username, 'username')})`,
      )
      .where(() => `u.kind not in ('ghost', 'placeholder')`)
      .where(
        (bind) =>
          `(${isUserVisibleSql(viewer, bind)} or ${isTokenBotOfGroupsSql(bind(source.traversalIds, 'namespaces'))})`,
      )
      .readOne(tx);
    return found ?? null;
  }

  /**
   * All users with a level: direct, inherited, or by an invited group. One entry per user, with the highest level, in the
   * order of user ids. Bounds: each source yields at most the users up to the end of the page.
   */
  async listAll(
    viewer: Viewer,
    source: MemberSource,
    params: MemberFilters,
    request: PageRequest,
  ): Promise<Page<MemberRow>> {
    if (params.state === 'awaiting') return { rows: [], total: 0, hasNext: false };
    return effectiveMembersQuery(viewer, source, params).readPage(this.db, request);
  }

  /** One user of `listAll`. */
  async oneOfAll(viewer: Viewer, source: MemberSource, userId: number): Promise<MemberRow | null> {
    const [found] = await effectiveMembersQuery(viewer, source, { user_ids: [userId] }).readRows(this.db, 1);
    return found ?? null;
  }
}

function directMembersQuery({ type, id }: MemberSource): ListQuery<MemberRow> {
  return new ListQuery<MemberRow>({ ...PARTS, name: 'members' }).where(
    (bind) => `m.source_type = '${type}' and m.source_id = ${bind(id, 'source')}`,
  );
}

function effectiveMembersQuery(viewer: Viewer, source: MemberSource, params: MemberFilters): ListQuery<MemberRow> {
  const list = new ListQuery<MemberRow>({ ...PARTS, name: 'members-all', key: 'm.user_id', carries: 'm.*' });
  const namespaces = `${list.bind(source.traversalIds, 'namespaces')}::bigint[]`;
  const projectId = `${list.bind(source.type === 'project' ? source.id : null, 'project')}::bigint`;
  const narrowed = [isMembershipOrShareUnexpiredSql('m'), ...list.listConditions(memberFilters(viewer), params)].join(
    ' and ',
  );
  const invitedShown = canSeeInvitedGroupMembersSql(list.bind, viewer, source);
  const held = (count: number) => `(
    with source as (
      select 'namespace' as type, id, 50 as cap, false as invited from unnest(${namespaces}) id
      union all select 'project', ${projectId}, 50, false where ${projectId} is not null
      union all select 'namespace', above.id, s.access_level, true from shares s
        join namespaces g on g.id = s.group_id cross join unnest(g.traversal_ids) above(id)
        where ${isMembershipOrShareUnexpiredSql('s')} and ${invitedShown} and ((s.source_type = 'namespace' and s.source_id = any(${namespaces}))
          or (s.source_type = 'project' and s.source_id = ${projectId}))
    )
    select distinct on (m.user_id) m.* from source cross join lateral (
      select m.id, m.user_id, least(m.access_level, source.cap) as access_level, m.created_at, m.updated_at,
        m.expires_on, m.created_by_id
      from members m where m.source_type = source.type and m.source_id = source.id and ${narrowed}
      order by m.user_id limit ${count}
    ) m order by m.user_id, m.access_level desc, source.invited, m.id) m`;
  return list.fromSource({ from: held(COUNT_LIMIT + 1), first: held });
}

/**
 * Boolean SQL: may the viewer see the members of an invited group `g`? Members of the source may; other viewers if they
 * can see the group. Source: reference identity-and-import 2.8.
 */
function canSeeInvitedGroupMembersSql(bind: Bind, viewer: Viewer, source: MemberSource): string {
  if (viewer.isAdmin || source.level > 0) return 'true';
  if (viewer.userId === null) return `g.visibility = 'public'`;
  const open = viewer.isExternal ? `g.visibility = 'public'` : `g.visibility <> 'private'`;
  const user = `${bind(viewer.userId, 'viewer')}::bigint`;
  return `(${open} or ${groupAccessLevelSql({ user, namespace: 'g', tables: OWN_TABLES })} >= 10)`;
}

/** Filters of memberships `m` by user. */
function memberFilters(viewer: Viewer): Filters<MemberFilters> {
  const search = createUserSearchFilter(viewer, 'f', 'in part');
  return {
    user_ids: (ids, bind) => ids.length > 0 && `m.user_id = any(${bind(ids)}::bigint[])`,
    skip_users: filter.noneOf('m.user_id'),
    query: (text, bind, asked) => {
      const matches = search(text, bind, asked);
      return matches && `exists (select 1 from users f where f.id = m.user_id and ${matches})`;
    },
  };
}
