import { Injectable } from '@nestjs/common';
import { userDeleted } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { RemovalService } from '../removal/removal.service';
import { HolderLog } from '../user-states/holder-log';
import type { UserKind } from '../users/user.entity';
import { GhostUser } from './ghost-user';
import { SoleOwnership } from './sole-ownership';

/** A removal under way. */
export interface Leaving {
  readonly user_id: number;
  readonly kind: UserKind;
  readonly hard_delete: boolean;
  readonly actor_id: number | null;
}

/** Bounds: what one transaction removes or changes at most. */
const GROUPS = 5;
const PROJECTS = 100;
const ROWS = 1000;

/** The removal of one person cut into transactions of bounded size, each of which may be the last one for long. */
@Injectable()
export class RemovalSteps {
  constructor(
    private readonly log: ChangeLog,
    private readonly removal: RemovalService,
    private readonly ghost: GhostUser,
    private readonly ownership: SoleOwnership,
    private readonly holders: HolderLog,
  ) {}

  /** Whoever is leaving counts no more anywhere, and his tokens end at once. */
  async begin(tx: Tx, { user_id, hard_delete, actor_id }: Leaving): Promise<void> {
    await tx.query(`insert into user_removals (user_id, hard_delete, actor_id) values ($1, $2, $3)`, [
      user_id,
      hard_delete,
      actor_id,
    ]);
    await tx.query(`update users set state = 'blocked', updated_at = now() where id = $1`, [user_id]);
    await this.holders.record(tx, user_id);
  }

  /** Does the next part. True when the person is gone. */
  async next(tx: Tx, leaving: Leaving): Promise<boolean> {
    if (leaving.hard_delete && leaving.kind !== 'project_bot' && !(await this.removeGroups(tx, leaving))) return false;
    // Held until the end, so that no project is made or moved there any more.
    await tx.query(`select id from namespaces where owner_id = $1 for update`, [leaving.user_id]);
    if (!(await this.removeProjects(tx, leaving))) return false;
    const heirId = leaving.hard_delete ? null : await this.ghost.id(tx);
    if (!(await this.handOver(tx, leaving, heirId)) || !(await this.endMemberships(tx, leaving))) return false;
    await this.finish(tx, leaving, heirId);
    return true;
  }

  private async removeGroups(tx: Tx, { user_id, actor_id }: Leaving): Promise<boolean> {
    for (let count = 0; count < GROUPS; count += 1) {
      const [id] = await this.ownership.groupsOf(tx, user_id, 1);
      if (id === undefined) return true;
      await this.removal.remove(tx, 'group', id, actor_id);
    }
    return false;
  }

  private async removeProjects(tx: Tx, { user_id, actor_id }: Leaving): Promise<boolean> {
    const rows = await tx.query<{ id: number }>(
      `select p.id from projects p join namespaces n on n.id = p.namespace_id
       where n.owner_id = $1 order by p.id limit $2 for update of p`,
      [user_id, PROJECTS],
    );
    for (const { id } of rows) await this.removal.remove(tx, 'project', id, actor_id);
    return rows.length < PROJECTS;
  }

  /** Projects elsewhere that he made stay, as made by the ghost user or by nobody. */
  private async handOver(tx: Tx, { user_id }: Leaving, heirId: number | null): Promise<boolean> {
    const rows = await tx.query<{ id: number }>(
      `update projects set creator_id = $2 where id in (
         select id from projects where creator_id = $1 order by id limit $3 for no key update) returning id`,
      [user_id, heirId, ROWS],
    );
    this.log.record(tx, 'project', ...rows.map((row) => row.id));
    return rows.length < ROWS;
  }

  private async endMemberships(tx: Tx, { user_id }: Leaving): Promise<boolean> {
    const rows = await tx.query<{ id: number }>(
      `delete from members where id in (
         select id from members where user_id = $1 order by id limit $2 for update) returning id`,
      [user_id, ROWS],
    );
    this.log.record(tx, 'membership', ...rows.map((row) => row.id));
    return rows.length < ROWS;
  }

  /** Addresses, identities, tokens, stars, picture and attributes go with the row. */
  private async finish(tx: Tx, leaving: Leaving, heirId: number | null): Promise<void> {
    const { user_id, hard_delete, actor_id } = leaving;
    // From here on nobody can be made a member, or given a token, of who is about to go.
    await tx.query(`select id from users where id = $1 for update`, [user_id]);
    await this.log.recordWithBelongings(tx, 'user', user_id);
    await tx.query(`delete from namespaces where owner_id = $1`, [user_id]);
    await tx.query(`delete from users where id = $1`, [user_id]);
    const data = { user_id, ghost_user_id: heirId, hard_delete };
    tx.emit(userDeleted.of({ aggregateId: user_id, actorId: actor_id, data }));
  }
}
