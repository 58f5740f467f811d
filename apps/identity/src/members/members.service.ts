import { Inject, Injectable } from '@nestjs/common';
import { memberAdded, memberRemoved, memberUnassigned } from '@rookery/contracts';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, CLOCK, Conflict, Forbidden, Invalid, NotFound, PartlyRefused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { keepBotAtHome } from '../bots/bot-home';
import { ChangeLog } from '../directory/change-log';
import { dayAfter } from '../tokens/token-lifetime';
import { belowInherited } from './inherited-level';
import { mayDealWithLevel } from './member.policy';
import type { MemberSource } from '../member-lists/member-source';
import type { MemberRow } from '../member-lists/member-row';
import { MembersQueries } from '../member-lists/members.queries';
import type { KnownUser } from '../member-lists/members.queries';
import type { Named } from '../member-lists/people-named';

export interface Grant {
  readonly access_level: number;
  readonly expires_at?: string | null;
}
/** Why not, by the name of each. */
type Reasons = Record<string, string>;
const EXISTS = 'Member already exists';

/** Adding, changing and removing direct members. Source: reference identity-and-import 2.8. */
@Injectable()
export class MembersService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly queries: MembersQueries,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: NotFound for the user; Forbidden above the own level; Conflict when he is a member; Invalid. */
  add(viewer: SignedInViewer, source: MemberSource, who: Named, grant: Grant): Promise<MemberRow> {
    return this.work.run((tx) => this.addIn(tx, viewer, source, who, grant));
  }

  /** Adds those who can be added. Errors: PartlyRefused with the others, by username, or as the caller named strangers. */
  async addSeveral(
    viewer: SignedInViewer,
    source: MemberSource,
    people: readonly Named[],
    grant: Grant,
  ): Promise<void> {
    this.judge(viewer, source, grant);
    const failures = await this.work.run(async (tx) => {
      const { known, refused } = await this.knownOf(tx, people);
      // Two requests with the same people wait for each other in one order.
      for (const user of [...known].sort((a, b) => a.id - b.id)) {
        Object.assign(refused, await this.refusalOf(user, () => this.addUser(tx, viewer, source, user.id, grant)));
      }
      return refused;
    });
    if (Object.keys(failures).length > 0) throw new PartlyRefused(failures);
  }

  private async knownOf(tx: Tx, people: readonly Named[]): Promise<{ known: KnownUser[]; refused: Reasons }> {
    const known: KnownUser[] = [];
    // Without a prototype: strangers are named by whatever the caller wrote, `__proto__` too.
    const refused = Object.create(null) as Reasons;
    for (const who of people) {
      const user = await this.queries.person(tx, who);
      if (user) known.push(user);
      else refused['id' in who ? String(who.id) : who.username] = 'User Not Found';
    }
    return { known, refused };
  }

  private async refusalOf(user: KnownUser, add: () => Promise<unknown>): Promise<Reasons> {
    try {
      await add();
      return {};
    } catch (error) {
      if (!(error instanceof Conflict || error instanceof Invalid)) throw error;
      return { [user.username]: error.message };
    }
  }

  async update(viewer: SignedInViewer, source: MemberSource, userId: number, grant: Grant): Promise<MemberRow> {
    return this.work.run(async (tx) => {
      const old = await this.locked(tx, source, userId);
      if (!mayDealWithLevel(viewer, source, old.access_level)) throw new Forbidden();
      this.judge(viewer, source, grant);
      await this.notBelowInherited(tx, source, userId, grant.access_level);
      const endsSooner = grant.expires_at !== undefined && grant.expires_at !== null;
      if (grant.access_level < ACCESS_LEVELS.owner || endsSooner) await this.keepAnOwner(tx, source, userId);
      await tx.query(
        `update members set access_level = $2, expires_on = case when $3 then $4::date else expires_on end, updated_at = now()
         where id = $1`,
        [old.membership_id, grant.access_level, grant.expires_at !== undefined, grant.expires_at ?? null],
      );
      this.log.record(tx, 'membership', old.membership_id);
      return (await this.queries.one(source, userId, tx, 'even over'))!;
    });
  }

  /**
   * Removes a member, and unless `keepBelow`, what he holds directly below the group. Shape: `unassigns` also takes him
   * off the issues there; `unchanged` as elsewhere.
   */
  async remove(
    viewer: SignedInViewer,
    source: MemberSource,
    userId: number,
    how: { readonly keepBelow: boolean; readonly unassigns: boolean; readonly unchanged: (at: Date) => void },
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const old = await this.locked(tx, source, userId);
      how.unchanged(old.changed_at);
      const isLeaving = viewer.userId === userId;
      if (!isLeaving && !mayDealWithLevel(viewer, source, old.access_level)) throw new Forbidden();
      await this.keepAnOwner(tx, source, userId);
      const below = source.type === 'namespace' && !how.keepBelow ? await this.idsBelow(tx, source.id, userId) : [];
      await this.end(tx, [old.membership_id, ...below], isLeaving ? 'left' : 'removed', viewer.userId);
      if (how.unassigns) {
        const data = {
          user_id: userId,
          source_type: source.kind,
          source_id: source.id,
          includes_below: !how.keepBelow,
        };
        tx.emit(memberUnassigned.of({ aggregateId: old.membership_id, actorId: viewer.userId, data }));
      }
    });
  }

  /** Ends memberships; used for those that ran out too. */
  async end(
    tx: Tx,
    ids: readonly number[],
    reason: 'left' | 'removed' | 'expired',
    actorId: number | null,
  ): Promise<void> {
    const rows = await tx.query<{ id: number; user_id: number; source_type: string; source_id: number }>(
      `delete from members where id = any($1) returning id, user_id, source_type, source_id`,
      [ids],
    );
    const removed_at = this.clock.now().toISOString();
    for (const { id, user_id, source_type, source_id } of rows) {
      this.log.record(tx, 'membership', id);
      const source = { source_type: source_type === 'project' ? ('project' as const) : ('group' as const), source_id };
      tx.emit(memberRemoved.of({ aggregateId: id, actorId, data: { user_id, ...source, reason, removed_at } }));
    }
  }

  private judge(viewer: SignedInViewer, source: MemberSource, grant: Grant): void {
    if (!mayDealWithLevel(viewer, source, grant.access_level)) throw new Forbidden();
    const isPast = typeof grant.expires_at === 'string' && grant.expires_at < dayAfter(this.clock.now(), 0);
    if (isPast) throw new Invalid({ expires_at: ['cannot be a date in the past'] });
  }

  /** As `add`, within a transaction of the caller. */
  async addIn(tx: Tx, viewer: SignedInViewer, source: MemberSource, who: Named, grant: Grant): Promise<MemberRow> {
    this.judge(viewer, source, grant);
    const user = await this.queries.person(tx, who);
    if (!user) throw new NotFound('User');
    return this.addUser(tx, viewer, source, user.id, grant);
  }

  private async addUser(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    userId: number,
    grant: Grant,
  ): Promise<MemberRow> {
    await keepBotAtHome(tx, userId, source);
    await this.notBelowInherited(tx, source, userId, grant.access_level);
    // What ran out and was not cleared away yet is no membership.
    const over = await tx.query<{ id: number }>(
      `select id from members where source_type = $1 and source_id = $2 and user_id = $3
         and expires_on <= (statement_timestamp() at time zone 'UTC')::date for update`,
      [source.type, source.id, userId],
    );
    if (over.length > 0) await this.end(tx, [over[0]!.id], 'expired', null);
    const [made] = await tx.query<{ id: number; created_at: Date }>(
      `insert into members (user_id, source_type, source_id, access_level, expires_on, created_by_id)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id, created_at`,
      [userId, source.type, source.id, grant.access_level, grant.expires_at ?? null, viewer.userId],
    );
    if (!made) throw new Conflict(EXISTS);
    this.log.record(tx, 'membership', made.id);
    // Whoever asked to be let in is in.
    const column = source.type === 'project' ? 'project_id' : 'namespace_id';
    await tx.query(`delete from access_requests where ${column} = $1 and user_id = $2`, [source.id, userId]);
    const data = { user_id: userId, source_type: source.kind, source_id: source.id, access_level: grant.access_level };
    const added_at = made.created_at.toISOString();
    tx.emit(memberAdded.of({ aggregateId: made.id, actorId: viewer.userId, data: { ...data, added_at } }));
    // One that ends today is over at once, and is shown this once.
    return (await this.queries.one(source, userId, tx, 'even over'))!;
  }

  private async locked(tx: Tx, source: MemberSource, userId: number): Promise<MemberRow> {
    // The group before its members, as everywhere; and one change of owners at a time, else two could leave together.
    if (source.type === 'namespace')
      await tx.query(`select id from namespaces where id = $1 for no key update`, [source.id]);
    await tx.query(`select id from members where source_type = $1 and source_id = $2 and user_id = $3 for update`, [
      source.type,
      source.id,
      userId,
    ]);
    const row = await this.queries.one(source, userId, tx);
    if (!row) throw new NotFound();
    return row;
  }

  private async notBelowInherited(tx: Tx, source: MemberSource, userId: number, level: number): Promise<void> {
    const [highest] = await tx.query<{ access_level: number; name: string }>(
      `select m.access_level, n.name from members m join namespaces n on n.id = m.source_id
       where m.user_id = $1 and m.source_type = 'namespace' and m.source_id = any($2)
         and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)
       order by m.access_level desc, cardinality(n.traversal_ids) desc limit 1`,
      [userId, source.ancestorIds],
    );
    const problem = highest ? belowInherited(level, highest) : null;
    if (problem) throw new Invalid({ access_level: [problem] });
  }

  /** A group, which is locked, keeps an owner of its own or of a group above; the person of a personal project stays. */
  private async keepAnOwner(tx: Tx, source: MemberSource, userId: number): Promise<void> {
    if (source.type === 'project') {
      if (source.personOfSpace === userId) throw new Forbidden();
      return;
    }
    const [row] = await tx.query<{ is_owner: boolean; others: number }>(
      `select coalesce(bool_or(m.user_id = $2 and m.source_id = $1), false) as is_owner,
         (count(*) filter (where m.user_id <> $2 or m.source_id <> $1))::int as others
       from members m join users u on u.id = m.user_id and u.state = 'active' and u.kind <> 'project_bot'
       where m.source_type = 'namespace' and m.source_id = any($3) and m.access_level = 50
         and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)`,
      [source.id, userId, source.traversalIds],
    );
    if (row!.is_owner && row!.others === 0) throw new Forbidden();
  }

  private async idsBelow(tx: Tx, groupId: number, userId: number): Promise<number[]> {
    const rows = await tx.query<{ id: number }>(
      `with tree as (select id from namespaces where traversal_ids @> array[$1::bigint] and id <> $1)
       select m.id from members m where m.user_id = $2 and (
         (m.source_type = 'namespace' and m.source_id in (select id from tree))
         or (m.source_type = 'project' and m.source_id in (
           select p.id from projects p where p.namespace_id = $1 or p.namespace_id in (select id from tree))))`,
      [groupId, userId],
    );
    return rows.map((row) => row.id);
  }
}
