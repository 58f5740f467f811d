import { Inject, Injectable } from '@nestjs/common';
import { memberAdded, memberChanged, memberRemoved } from '@rookery/contracts';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { findResponsibleUserEventData } from '../users/responsible-user';

/** A membership to be created. */
export interface NewMembership {
  readonly userId: number;
  readonly source: { readonly kind: 'group' | 'project'; readonly id: number };
  readonly level: number;
  readonly actorId: number;
  readonly expiresOn?: string | null;
}
/** Groups and projects that are being deleted. */
export interface SourceIds {
  readonly namespaceIds: readonly number[];
  readonly projectIds: readonly number[];
}

const VALUES = `(user_id, source_type, source_id, access_level, expires_on, created_by_id) values ($1, $2, $3, $4, $5, $6)`;
/** A changed membership. `is_other` is true if its level or its end differs from before. */
interface ChangedMembershipRow {
  readonly user_id: number;
  readonly source_type: string;
  readonly source_id: number;
  readonly updated_at: Date;
  readonly is_other: boolean;
}

const toSourceKind = (sourceType: string): 'group' | 'project' => (sourceType === 'project' ? 'project' : 'group');
const toSourceType = (kind: 'group' | 'project') => (kind === 'project' ? 'project' : 'namespace');

/**
 * Rows of members with their directory changes and events. Other wings use it for memberships that are created and
 * deleted together with their own rows. Permissions are not checked here. Source: reference identity-and-import 2.8.
 */
@Injectable()
export class MembershipsService {
  constructor(
    private readonly log: ChangeLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Adds a membership and returns its id. Returns null, without a change, for a user who is a member already. */
  async addMember(tx: Tx, member: NewMembership): Promise<number | null> {
    const [made] = await tx.query<{ id: number; created_at: Date }>(
      `insert into members ${VALUES} on conflict do nothing returning id, created_at`,
      membershipInsertValues(member),
    );
    if (!made) return null;
    this.log.recordChange(tx, 'membership', made.id);
    await this.announceAddedMember(tx, made.id, member, made.created_at);
    return made.id;
  }

  /**
   * Makes a user a member with exactly this level and end, replacing an existing membership. A new membership emits an
   * event only with `isAnnounced`.
   */
  async grantMembership(tx: Tx, member: NewMembership, how: { readonly isAnnounced: boolean }): Promise<void> {
    const [row] = (await tx.query(
      `insert into members ${VALUES}
       on conflict (source_type, source_id, user_id)
         do update set access_level = excluded.access_level, expires_on = excluded.expires_on, updated_at = now()
       returning id, created_at, xmax = 0 as is_new`,
      membershipInsertValues(member),
    )) as [{ id: number; created_at: Date; is_new: boolean }];
    this.log.recordChange(tx, 'membership', row.id);
    if (row.is_new && how.isAnnounced) await this.announceAddedMember(tx, row.id, member, row.created_at);
  }

  /** Emits an event if the level or the end is another one. An omitted end is kept. */
  async changeMember(
    tx: Tx,
    member: { readonly id: number; readonly actorId: number },
    level: number,
    expiresOn: string | null | undefined,
  ): Promise<void> {
    const [row] = await tx.query<ChangedMembershipRow>(
      `with before as materialized (select access_level, expires_on from members where id = $1)
       update members m set access_level = $2, expires_on = case when $3 then $4::date else m.expires_on end, updated_at = now()
       from before where m.id = $1
       returning m.user_id, m.source_type, m.source_id, m.updated_at,
         (m.access_level, m.expires_on) is distinct from (before.access_level, before.expires_on) as is_other`,
      [member.id, level, expiresOn !== undefined, expiresOn ?? null],
    );
    this.log.recordChange(tx, 'membership', member.id);
    if (!row?.is_other) return;
    const data = {
      ...{ user_id: row.user_id, source_type: toSourceKind(row.source_type), source_id: row.source_id },
      ...{ access_level: level, changed_at: row.updated_at.toISOString() },
      ...(await findResponsibleUserEventData(tx, member.actorId)),
    };
    this.log.emit(tx, memberChanged.of({ aggregateId: member.id, actorId: member.actorId, data }));
  }

  /** Deletes single memberships and emits an event for each. */
  async endMemberships(
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
      this.log.recordChange(tx, 'membership', id);
      const source = { source_type: toSourceKind(source_type), source_id };
      tx.emit(memberRemoved.of({ aggregateId: id, actorId, data: { user_id, ...source, reason, removed_at } }));
    }
  }

  /**
   * Deletes memberships of a user who is being removed; the event of the removal covers them. Returns the number of
   * deleted ones, at most `limit`.
   */
  async endOfUser(tx: Tx, userId: number, limit: number): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `delete from members where id in (
         select id from members where user_id = $1 order by id limit $2 for update) returning id`,
      [userId, limit],
    );
    this.log.recordChange(tx, 'membership', ...rows.map((row) => row.id));
    return rows.length;
  }

  /**
   * Deletes the memberships of groups and projects that are being deleted. The caller has recorded the change and
   * emitted the event.
   */
  async deleteForSources(tx: Tx, sources: SourceIds): Promise<void> {
    await tx.query(
      `delete from members where (source_type = 'namespace' and source_id = any($1))
         or (source_type = 'project' and source_id = any($2))`,
      [sources.namespaceIds, sources.projectIds],
    );
  }

  private async announceAddedMember(tx: Tx, id: number, member: NewMembership, at: Date): Promise<void> {
    const { userId, source, level, actorId } = member;
    const data = {
      ...{ user_id: userId, source_type: source.kind, source_id: source.id, access_level: level },
      ...{ added_at: at.toISOString(), ...(await findResponsibleUserEventData(tx, actorId)) },
    };
    this.log.emit(tx, memberAdded.of({ aggregateId: id, actorId, data }));
  }
}

function membershipInsertValues({ userId, source, level, expiresOn, actorId }: NewMembership): unknown[] {
  return [userId, toSourceType(source.kind), source.id, level, expiresOn ?? null, actorId];
}
