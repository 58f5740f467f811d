import { Injectable } from '@nestjs/common';
import { memberUnassigned } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { MemberRow } from './listing/members.queries';
import type { MemberSource } from './listing/member-source';
import { MembersQueries } from './listing/members.queries';
import { MemberRules } from './member-rules';
import type { Grant } from './member-rules';
import { mayGrantMemberLevel } from './member.policy';
import { MembershipsService } from './memberships.service';

/** Changes and removal of direct members. Source: reference identity-and-import 2.8. */
@Injectable()
export class MembersService {
  constructor(
    private readonly work: Work,
    private readonly queries: MembersQueries,
    private readonly memberships: MembershipsService,
    private readonly rules: MemberRules,
  ) {}

  async update(viewer: SignedInViewer, source: MemberSource, userId: number, grant: Grant): Promise<MemberRow> {
    return this.work.run(async (tx) => {
      const old = await this.lockMember(tx, source, userId);
      if (!mayGrantMemberLevel(viewer, source, old.access_level)) throw new Forbidden();
      this.rules.refuseGrant(viewer, source, grant);
      await this.rules.refuseBelowInherited(tx, source, userId, grant.access_level);
      const endsSooner = grant.expires_at !== undefined && grant.expires_at !== null;
      if (grant.access_level < ACCESS_LEVELS.owner || endsSooner) await this.checkOwnerRemains(tx, source, userId);
      const member = { id: old.membership_id, actorId: viewer.userId };
      await this.memberships.changeMember(tx, member, grant.access_level, grant.expires_at);
      return (await this.queries.findMember(source, userId, tx, 'even expired'))!;
    });
  }

  /**
   * Removes a member and, unless `keepBelow`, the user's direct memberships below the group. `unassigns` also unassigns
   * the user from issues there. `unchanged` is called first, with the time of the last change.
   */
  async remove(
    viewer: SignedInViewer,
    source: MemberSource,
    userId: number,
    how: { readonly keepBelow: boolean; readonly unassigns: boolean; readonly unchanged: (at: Date) => void },
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const old = await this.lockMember(tx, source, userId);
      how.unchanged(old.changed_at);
      const isLeaving = viewer.userId === userId;
      if (!isLeaving && !mayGrantMemberLevel(viewer, source, old.access_level)) throw new Forbidden();
      await this.checkOwnerRemains(tx, source, userId);
      const below =
        source.type === 'namespace' && !how.keepBelow ? await this.findMembershipIdsBelow(tx, source.id, userId) : [];
      await this.memberships.endMemberships(
        tx,
        [old.membership_id, ...below],
        isLeaving ? 'left' : 'removed',
        viewer.userId,
      );
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

  private async lockMember(tx: Tx, source: MemberSource, userId: number): Promise<MemberRow> {
    // Locks the group before its members, like all statements. Changes of owners are serialized, because otherwise two
    // could leave at the same time.
    if (source.type === 'namespace')
      await tx.query(`select id from namespaces where id = $1 for no key update`, [source.id]);
    await tx.query(`select id from members where source_type = $1 and source_id = $2 and user_id = $3 for update`, [
      source.type,
      source.id,
      userId,
    ]);
    const row = await this.queries.findMember(source, userId, tx);
    if (!row) throw new NotFound();
    return row;
  }

  /**
   * Checks that the locked group keeps an owner, of its own or of a group above, and that the user of a personal
   * project stays a member.
   */
  private async checkOwnerRemains(tx: Tx, source: MemberSource, userId: number): Promise<void> {
    if (source.type === 'project') {
      if (source.personalOwnerId === userId) throw new Forbidden();
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

  private async findMembershipIdsBelow(tx: Tx, groupId: number, userId: number): Promise<number[]> {
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
