import { Injectable } from '@nestjs/common';
import { groupDeleted, projectDeleted, userDeleted } from '@rookery/contracts';
import type { DomainEvent } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { GhostUser } from '../users/ghost-user';

export const LOST_KINDS = ['user', 'group', 'project'] as const;
export type LostKind = (typeof LOST_KINDS)[number];

const TABLES: Readonly<Record<LostKind, string>> = { user: 'users', group: 'namespaces', project: 'projects' };

/**
 * Publishes deletion events for users, groups and projects that a restore of the database lost, as if they had been
 * removed: every service drops their rows or hands them to the ghost user. Source: docs/reference/reliability.md 4.5.
 */
@Injectable()
export class ResourcesLostInRestoreService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly ghost: GhostUser,
  ) {}

  /** Errors: InvalidParameters for resources that exist, and for ids that were never assigned. */
  async drop(kind: LostKind, ids: readonly number[]): Promise<void> {
    await this.work.run(async (tx) => {
      await refuseResourcesNotLost(tx, kind, ids);
      const ghostId = kind === 'user' ? await this.ghost.ensureId(tx) : null;
      for (const id of ids) this.log.emit(tx, lostResourceDeletionEvent(kind, id, ghostId));
    });
  }
}

async function refuseResourcesNotLost(tx: Tx, kind: LostKind, ids: readonly number[]): Promise<void> {
  const table = TABLES[kind];
  const existing = await tx.query<{ id: number }>(`select id from ${table} where id = any($1::bigint[]) order by id`, [
    ids,
  ]);
  if (existing.length > 0)
    throw new InvalidParameters([`${kind} ${existing.map(({ id }) => id).join(', ')} is not lost`]);
  const [sequence] = await tx.query<{ last: number }>(
    `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', 'id')::regclass), 0) as last`,
  );
  const future = ids.filter((id) => id > (sequence?.last ?? 0));
  if (future.length > 0) throw new InvalidParameters([`${kind} ${future.join(', ')} never existed`]);
}

function lostResourceDeletionEvent(kind: LostKind, id: number, ghostId: number | null): DomainEvent {
  if (kind === 'project') return projectDeleted.of({ aggregateId: id, actorId: null, data: { project_id: id } });
  if (kind === 'group') return groupDeleted.of({ aggregateId: id, actorId: null, data: { group_id: id } });
  const data = { user_id: id, ghost_user_id: ghostId, hard_delete: false };
  return userDeleted.of({ aggregateId: id, actorId: null, data });
}
