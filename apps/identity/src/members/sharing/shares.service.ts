import { Inject, Injectable } from '@nestjs/common';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { CLOCK, Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import type { GroupSettings } from '../../namespaces/settings/group-settings';
import { isGroupVisibleSql } from '../../directory/reach/seen-sql';
import { isInvitedGroupAtOrAbove, isOutsideClosedHierarchy, mayGrantShareLevel } from './share.policy';
import type { InvitedGroup, ShareHome, ShareGrant, ShareRow, ShareSource } from './share.policy';
import type { SourceIds } from '../memberships.service';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';
import { TOP_DOWN } from '../../namespaces/paths/namespace-trees.service';

const SHOWN = 's.id, s.source_type, s.source_id, s.group_id, s.access_level, s.expires_on, s.updated_at';
const NOUNS = { namespace: 'group', project: 'project' } as const;
const TAKEN = {
  namespace: 'The group has already been shared with this group',
  project: 'Group already shared with this group',
} as const;
const WITHOUT_EFFECT = {
  namespace: 'Group cannot be shared with itself or one of its ancestors.',
  project: 'Project cannot be shared with the group it is in or one of its ancestors.',
} as const;

/** Invitations of groups to groups and projects. Source: reference identity-and-import 2.6, 10.2. */
@Injectable()
export class SharesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Shares the source with a group. The viewer must be able to see the group and to administer the source. Errors:
   * Forbidden for a level above the viewer's own; Refused while sharing is locked; NotFound outside of a closed
   * hierarchy; Conflict for a share that cannot be saved.
   */
  async share(viewer: SignedInViewer, source: ShareSource, groupId: number, grant: ShareGrant): Promise<ShareRow> {
    if (!mayGrantShareLevel(viewer, source, grant.group_access)) throw new Forbidden();
    return this.work.run(async (tx) => {
      const { home, invited } = await this.lockSourceAndGroup(tx, source, groupId);
      if (home.isLocked)
        throw new Refused(`The ${NOUNS[source.type]} sharing with group is disabled`, { verbatim: true });
      if (isOutsideClosedHierarchy(home, invited)) throw new NotFound('Not Found', { verbatim: true });
      if (isInvitedGroupAtOrAbove(home, invited)) throw new Conflict(WITHOUT_EFFECT[source.type]);
      const today = this.clock.now().toISOString().slice(0, 10);
      if (typeof grant.expires_at === 'string' && grant.expires_at < today) {
        throw new Conflict('Expires at cannot be a date in the past');
      }
      return this.insertShare(tx, source, groupId, grant);
    });
  }

  /**
   * Ends a share. Without `isAllowed` it changes nothing, and finds only shares with groups that the viewer can see.
   * `unchanged` is called first, with the time of the last change. Errors: NotFound for the share; Forbidden for a
   * level above the viewer's own.
   */
  async unshare(
    viewer: SignedInViewer,
    source: ShareSource,
    groupId: number,
    how: { readonly isAllowed: boolean; readonly unchanged: (at: Date) => void },
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const seen = how.isAllowed ? 'true' : isGroupVisibleSql(viewer, { namespace: 'n', user: '$4::bigint' });
      const [share] = await tx.query<ShareRow>(
        `select ${SHOWN} from shares s join namespaces n on n.id = s.group_id
         where s.source_type = $1 and s.source_id = $2 and s.group_id = $3 and ${isMembershipOrShareUnexpiredSql('s')}
           and ($4::bigint is not null and ${seen}) for update of s`,
        [source.type, source.id, groupId, viewer.userId],
      );
      if (!share) throw new NotFound('Group Link');
      if (!how.isAllowed) return;
      how.unchanged(share.updated_at);
      if (!mayGrantShareLevel(viewer, source, share.access_level)) throw new Forbidden();
      await this.deleteShares(tx, [share.id]);
    });
  }

  /** Deletes at most `atMost` expired shares, which have no effect any more. Returns the number of deleted shares. */
  async endExpired(tx: Tx, atMost: number): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `select id from shares where expires_on <= (statement_timestamp() at time zone 'UTC')::date order by expires_on, id
       limit $1 for update skip locked`,
      [atMost],
    );
    await this.deleteShares(
      tx,
      rows.map((row) => row.id),
    );
    return rows.length;
  }

  /** Deletes the shares of groups and projects that are being deleted. The caller has recorded the change. */
  async deleteForSources(tx: Tx, sources: SourceIds): Promise<void> {
    await tx.query(
      `delete from shares where (source_type = 'namespace' and source_id = any($1))
         or (source_type = 'project' and source_id = any($2))`,
      [sources.namespaceIds, sources.projectIds],
    );
  }

  private async deleteShares(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(`delete from shares where id = any($1)`, [ids]);
    this.log.recordChange(tx, 'share', ...ids);
  }

  private async insertShare(tx: Tx, source: ShareSource, groupId: number, grant: ShareGrant): Promise<ShareRow> {
    const place = [source.type, source.id, groupId];
    // An expired share that is not deleted yet does not count.
    const over = await tx.query<{ id: number }>(
      `select id from shares s where source_type = $1 and source_id = $2 and group_id = $3 and not ${isMembershipOrShareUnexpiredSql('s')} for update`,
      place,
    );
    await this.deleteShares(
      tx,
      over.map((row) => row.id),
    );
    const [made] = await tx.query<ShareRow>(
      `insert into shares as s (source_type, source_id, group_id, access_level, expires_on) values ($1, $2, $3, $4, $5)
       on conflict do nothing returning ${SHOWN}`,
      [...place, grant.group_access, grant.expires_at ?? null],
    );
    if (!made) throw new Conflict(TAKEN[source.type]);
    this.log.recordChange(tx, 'share', made.id);
    return made;
  }

  /** Locks both groups, and the project, so that they are not moved before the share is written. */
  private async lockSourceAndGroup(
    tx: Tx,
    source: ShareSource,
    groupId: number,
  ): Promise<{ home: ShareHome; invited: InvitedGroup }> {
    const rows = await tx.query<{ id: number; traversal_ids: number[] }>(
      `select id, traversal_ids from namespaces where id = any($1) order by ${TOP_DOWN} for share`,
      [[source.namespaceId, groupId]],
    );
    const at = new Map(rows.map((row) => [row.id, row.traversal_ids]));
    const [traversalIds, invited] = [at.get(source.namespaceId), at.get(groupId)];
    if (!invited) throw new NotFound('Group');
    const isThere = source.type === 'namespace' || (await this.lockProjectInNamespace(tx, source));
    if (!traversalIds || !isThere) throw new NotFound(source.type === 'project' ? 'Project' : 'Group');
    return { home: await this.readShareHome(tx, traversalIds), invited: { id: groupId, traversalIds: invited } };
  }

  /** Locks the project. Returns false if it is no longer in the namespace of the source. */
  private async lockProjectInNamespace(tx: Tx, source: ShareSource): Promise<boolean> {
    const rows = await tx.query(`select id from projects where id = $1 and namespace_id = $2 for share`, [
      source.id,
      source.namespaceId,
    ]);
    return rows.length === 1;
  }

  /** Reads the settings of the namespace of a share. */
  private async readShareHome(tx: Tx, traversalIds: readonly number[]): Promise<ShareHome> {
    const chain = await tx.query<{ id: number; settings: Partial<GroupSettings> }>(
      `select id, settings from namespaces where id = any($1)`,
      [traversalIds],
    );
    const root = chain.find((row) => row.id === traversalIds[0]);
    return {
      traversalIds,
      isLocked: chain.some(({ settings }) => settings.share_with_group_lock === true),
      isClosed: root?.settings.prevent_sharing_groups_outside_hierarchy === true,
    };
  }
}
