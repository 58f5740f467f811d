import { Inject, Injectable } from '@nestjs/common';
import { groupDeleted, projectDeleted } from '@rookery/contracts';
import { Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { identitySettings } from '../identity.config';
import { TOP_DOWN } from '../paths/namespace-trees.repository';

/** What is asked for when a group or project is deleted. */
export interface RemovalRequest {
  readonly permanently_remove?: boolean;
  readonly full_path?: string;
}

interface Marked {
  readonly id: number;
  readonly full_path: string;
  readonly marked_for_deletion_on: string | null;
}

type Kind = 'group' | 'project';
/** Removes what belongs to groups that are about to go. */
type RemovesWithGroups = (tx: Tx, groupIds: readonly number[], actorId: number | null) => Promise<void>;
const TABLES = { group: 'namespaces', project: 'projects' } as const;
const NOUNS = { group: 'Group', project: 'Project' } as const;

/**
 * Delayed deletion of groups and projects: the first call marks, removal follows when the period is over or when it
 * is asked for with the full path. Source: reference identity-and-import 2.6, 10.2; ADR 0062.
 */
@Injectable()
export class RemovalService {
  private readonly others: RemovesWithGroups[] = [];

  constructor(
    private readonly log: ChangeLog,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /**
   * Rooms that use this one, and so cannot be used by it, say what else goes with groups. It is done when projects,
   * members and shares are gone and the groups themselves are not yet.
   */
  alsoRemoves(other: RemovesWithGroups): void {
    this.others.push(other);
  }

  /** Errors: Refused for a second call without the flag, the flag without a mark, or a wrong path. */
  async request(tx: Tx, kind: Kind, thing: Marked, asked: RemovalRequest, actorId: number | null): Promise<void> {
    if (this.settings.deletionDelayDays === 0) return this.remove(tx, kind, thing.id, actorId);
    const isMarked = thing.marked_for_deletion_on !== null;
    if (!asked.permanently_remove) {
      if (isMarked) throw new Refused(`${NOUNS[kind]} has been already marked for deletion`, { verbatim: true });
      return this.mark(tx, kind, thing.id);
    }
    if (!isMarked) throw new Refused(`${NOUNS[kind]} must be marked for deletion first.`, { verbatim: true });
    if (asked.full_path?.toLowerCase() !== thing.full_path.toLowerCase()) {
      const text = `\`full_path\` is incorrect. You must enter the complete path for the ${kind}.`;
      throw new Refused(text, { verbatim: true });
    }
    return this.remove(tx, kind, thing.id, actorId);
  }

  /** Takes the mark away. Errors: Refused when there is none. */
  async restore(tx: Tx, kind: Kind, thing: Pick<Marked, 'id' | 'marked_for_deletion_on'>): Promise<void> {
    if (thing.marked_for_deletion_on === null) {
      throw new Refused(`${NOUNS[kind]} has not been marked for deletion`, { verbatim: true });
    }
    await tx.query(
      `update ${TABLES[kind]} set marked_for_deletion_on = null, marked_for_deletion_at = null, updated_at = now()
       where id = $1`,
      [thing.id],
    );
    this.log.record(tx, kind === 'group' ? 'namespace' : 'project', thing.id);
  }

  /** What was marked at least the period ago. */
  async due(tx: Tx, kind: Kind): Promise<number[]> {
    const rows = await tx.query<{ id: number }>(
      `select id from ${TABLES[kind]} where marked_for_deletion_on <= (now() at time zone 'UTC')::date - $1::int
       order by id limit 100 for update skip locked`,
      [this.settings.deletionDelayDays],
    );
    return rows.map((row) => row.id);
  }

  async remove(tx: Tx, kind: Kind, id: number, actorId: number | null): Promise<void> {
    if (kind === 'project') return this.removeProject(tx, id, actorId);
    await this.log.recordWithBelongings(tx, 'namespace', id);
    const tree = await tx.query<{ id: number }>(
      `select id from namespaces where traversal_ids @> array[$1::bigint] order by ${TOP_DOWN} for update`,
      [id],
    );
    const ids = tree.map((row) => row.id);
    const projects = await tx.query<{ id: number }>(
      `with gone as (select id from projects where namespace_id = any($1)),
         m as (delete from members where (source_type = 'namespace' and source_id = any($1))
           or (source_type = 'project' and source_id in (select id from gone))),
         s as (delete from shares where (source_type = 'namespace' and source_id = any($1))
           or (source_type = 'project' and source_id in (select id from gone)))
       delete from projects where id in (select id from gone) returning id`,
      [ids],
    );
    for (const other of this.others) await other(tx, ids, actorId);
    await tx.query(`delete from namespaces where id = any($1)`, [ids]);
    const projectIds = projects.map((project) => project.id);
    await this.endBots(tx, ids, projectIds);
    for (const project of projects) this.announce(tx, 'project', project.id, actorId);
    for (const group of ids) this.announce(tx, 'group', group, actorId);
  }

  private async removeProject(tx: Tx, id: number, actorId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'project', id);
    await tx.query(`delete from members where source_type = 'project' and source_id = $1`, [id]);
    await tx.query(`delete from shares where source_type = 'project' and source_id = $1`, [id]);
    await tx.query(`delete from projects where id = $1`, [id]);
    await this.endBots(tx, [], [id]);
    this.announce(tx, 'project', id, actorId);
  }

  /** Their tokens are refused from now on; the bots themselves are removed soon after. Source: ADR 0125. */
  private async endBots(tx: Tx, groupIds: readonly number[], projectIds: readonly number[]): Promise<void> {
    const tokens = await tx.query<{ id: number; user_id: number }>(
      `select id, user_id from access_tokens where (resource_type = 'group' and resource_id = any($1))
         or (resource_type = 'project' and resource_id = any($2))`,
      [groupIds, projectIds],
    );
    const bots = [...new Set(tokens.map((token) => token.user_id))];
    if (bots.length === 0) return;
    await tx.query(
      `update users set state = 'blocked', updated_at = now() where id in (
         select id from users where id = any($1) order by id for update)`,
      [bots],
    );
    this.log.record(tx, 'user', ...bots);
    this.log.recordToken(tx, ...tokens.map((token) => token.id));
  }

  private async mark(tx: Tx, kind: Kind, id: number): Promise<void> {
    await tx.query(
      `update ${TABLES[kind]} set marked_for_deletion_on = (now() at time zone 'UTC')::date, marked_for_deletion_at = now(),
         updated_at = now() where id = $1`,
      [id],
    );
    this.log.record(tx, kind === 'group' ? 'namespace' : 'project', id);
  }

  private announce(tx: Tx, kind: Kind, id: number, actorId: number | null): void {
    const event =
      kind === 'group'
        ? groupDeleted.of({ aggregateId: id, actorId, data: { group_id: id } })
        : projectDeleted.of({ aggregateId: id, actorId, data: { project_id: id } });
    tx.emit(event);
  }
}
