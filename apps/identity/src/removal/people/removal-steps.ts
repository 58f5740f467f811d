import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { TreeRemovalService } from '../tree-removal.service';
import { UserRows } from '../../users/user-rows';
import { AccountRemoval } from './account-removal';
import type { PendingRemoval } from './account-removal';
import { GhostUser } from '../../users/ghost-user';
import { SolelyOwnedGroups } from './solely-owned-groups';
import { UserRemoval } from './user-removal.entity';

/** Bounds: groups and projects that one transaction removes. */
const GROUPS = 5;
const PROJECTS = 100;

/** Removal of one user, split into transactions of bounded size. There may be a long pause after each of them. */
@Injectable()
export class UserRemovalSteps {
  constructor(
    private readonly trees: TreeRemovalService,
    private readonly ghost: GhostUser,
    private readonly solelyOwned: SolelyOwnedGroups,
    private readonly account: AccountRemoval,
    private readonly users: UserRows,
  ) {}

  /** Records the removal and blocks the user, whose tokens are refused from then on. */
  async beginRemoval(tx: Tx, { user_id, hard_delete, actor_id }: PendingRemoval): Promise<void> {
    await tx.manager.insert(UserRemoval, { userId: user_id, hardDelete: hard_delete, actorId: actor_id });
    await this.users.blockUsers(tx, [user_id]);
  }

  /** Removes the next chunk. Returns true if the user is removed. */
  async runNextStep(tx: Tx, pending: PendingRemoval): Promise<boolean> {
    if (pending.hard_delete && pending.kind !== 'project_bot' && !(await this.removeSolelyOwnedGroups(tx, pending)))
      return false;
    // Locked until the end of the transaction, so that no project is created in the namespace or moved to it.
    await tx.query(`select id from namespaces where owner_id = $1 for update`, [pending.user_id]);
    if (!(await this.removePersonalProjects(tx, pending))) return false;
    const heirId = pending.hard_delete ? null : await this.ghost.ensureId(tx);
    if (!(await this.account.handOverProjects(tx, pending, heirId))) return false;
    if (!(await this.account.endMemberships(tx, pending))) return false;
    if (!(await this.account.revokeIssuedTokens(tx, pending))) return false;
    await this.account.remove(tx, pending, heirId);
    return true;
  }

  private async removeSolelyOwnedGroups(tx: Tx, { user_id, actor_id }: PendingRemoval): Promise<boolean> {
    for (let count = 0; count < GROUPS; count += 1) {
      const [id] = await this.solelyOwned.lockIds(tx, user_id, 1);
      if (id === undefined) return true;
      await this.trees.remove(tx, 'group', id, actor_id);
    }
    return false;
  }

  private async removePersonalProjects(tx: Tx, { user_id, actor_id }: PendingRemoval): Promise<boolean> {
    const rows = await tx.query<{ id: number }>(
      `select p.id from projects p join namespaces n on n.id = p.namespace_id
       where n.owner_id = $1 order by p.id limit $2 for update of p`,
      [user_id, PROJECTS],
    );
    for (const { id } of rows) await this.trees.remove(tx, 'project', id, actor_id);
    return rows.length < PROJECTS;
  }
}
