import { Injectable } from '@nestjs/common';
import { groupDeleted, projectDeleted, userDeleted } from '@rookery/contracts';
import type { DomainEvent } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { GhostUser } from './people/ghost-user';

export const LOST_KINDS = ['user', 'group', 'project'] as const;
export type LostKind = (typeof LOST_KINDS)[number];

const TABLES: Readonly<Record<LostKind, string>> = { user: 'users', group: 'namespaces', project: 'projects' };

/**
 * Says of people, groups and projects that a restore took that they are gone, as if they had been removed: every service
 * drops what belongs to them, or hands it to the ghost user. Source: docs/reference/reliability.md 4.5.
 */
@Injectable()
export class LostThingsService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly ghost: GhostUser,
  ) {}

  /** Errors: InvalidParameters for what is there, and for ids that were never given. */
  async drop(kind: LostKind, ids: readonly number[]): Promise<void> {
    await this.work.run(async (tx) => {
      await refuseOthers(tx, kind, ids);
      const ghostId = kind === 'user' ? await this.ghost.id(tx) : null;
      for (const id of ids) this.log.emit(tx, goneEvent(kind, id, ghostId));
    });
  }
}

async function refuseOthers(tx: Tx, kind: LostKind, ids: readonly number[]): Promise<void> {
  const table = TABLES[kind];
  const known = await tx.query<{ id: number }>(`select id from ${table} where id = any($1::bigint[]) order by id`, [
    ids,
  ]);
  if (known.length > 0) throw new InvalidParameters([`${kind} ${known.map(({ id }) => id).join(', ')} is not lost`]);
  const [given] = await tx.query<{ last: number }>(
    `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', 'id')::regclass), 0) as last`,
  );
  const future = ids.filter((id) => id > (given?.last ?? 0));
  if (future.length > 0) throw new InvalidParameters([`${kind} ${future.join(', ')} was never there`]);
}

function goneEvent(kind: LostKind, id: number, ghostId: number | null): DomainEvent {
  if (kind === 'project') return projectDeleted.of({ aggregateId: id, actorId: null, data: { project_id: id } });
  if (kind === 'group') return groupDeleted.of({ aggregateId: id, actorId: null, data: { group_id: id } });
  const data = { user_id: id, ghost_user_id: ghostId, hard_delete: false };
  return userDeleted.of({ aggregateId: id, actorId: null, data });
}
