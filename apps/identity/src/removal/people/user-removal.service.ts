import { Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { Conflict, Forbidden, NotFound } from '@rookery/kernel';
import type { RowOf, Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { LastAdministratorCheck } from '../../users/states/administrators';
import type { User } from '../../users/user.entity';
import type { PendingRemoval } from './account-removal';
import { SolelyOwnedGroups } from './solely-owned-groups';
import { UserRemovalSteps } from './removal-steps';

/** Job that finishes a removal that was too long for the request. */
export const finishUserRemoval = defineJob('finish-user-removal', object({ user_id: int }), {
  key: ({ user_id: id }) => String(id),
});

/** Options for removing a user. */
export interface UserRemovalOptions {
  /** Whether the user's content, and groups that only they own, are removed too; otherwise the ghost user gets the content. */
  readonly hardDelete: boolean;
  readonly actorId: number | null;
  /** Gets the time of the last change first; it throws to stop the removal. */
  readonly unchanged?: (updatedAt: Date) => void;
}

type LockedUser = RowOf<User, 'kind' | 'admin' | 'updatedAt'> & { readonly is_pending: boolean };

const SOLE_OWNER = 'User cannot be removed while is the sole-owner of a group';

/**
 * Removes users and bots permanently. A user with few rows is removed when the call returns; a job finishes a long removal
 * in further transactions.
 * Source: reference identity-and-import 5, 10.1; ADR 0136.
 */
@Injectable()
export class UserRemovalService {
  constructor(
    private readonly work: Work,
    private readonly administrators: LastAdministratorCheck,
    private readonly solelyOwned: SolelyOwnedGroups,
    private readonly steps: UserRemovalSteps,
    private readonly jobs: Jobs,
  ) {}

  /** Errors: NotFound; Conflict for the sole owner of a group without `hardDelete`; Forbidden. */
  remove(userId: number, how: UserRemovalOptions): Promise<void> {
    return this.work.run((tx) => this.removeInTransaction(tx, userId, how));
  }

  /** Does the same as `remove` in the caller's transaction. */
  async removeInTransaction(tx: Tx, userId: number, how: UserRemovalOptions): Promise<void> {
    const user = await this.lockUser(tx, userId);
    how.unchanged?.(user.updated_at);
    if (user.is_pending) return this.enqueueRemainingSteps(tx, userId);
    if (user.kind === 'ghost') throw new Forbidden('An internal user cannot be removed by the API');
    if (user.admin) await this.administrators.keepOne(tx, userId);
    // A bot is removed with its token, even if it is the only owner of a group.
    if (!how.hardDelete && user.kind !== 'project_bot' && (await this.solelyOwned.lockIds(tx, userId, 1)).length > 0)
      throw new Conflict(SOLE_OWNER);
    const pending = { user_id: userId, kind: user.kind, hard_delete: how.hardDelete, actor_id: how.actorId };
    await this.steps.beginRemoval(tx, pending);
    if (!(await this.steps.runNextStep(tx, pending))) await this.enqueueRemainingSteps(tx, userId);
  }

  /** Finishes the removal of one user, or all pending removals. */
  async continueRemovals(userId: number | null = null, signal?: AbortSignal): Promise<void> {
    while (await this.work.run((tx) => this.runPendingStep(tx, userId))) signal?.throwIfAborted();
  }

  /** Returns false if nothing is pending, or another process works on it. */
  private async runPendingStep(tx: Tx, userId: number | null): Promise<boolean> {
    const [pending] = await tx.query<PendingRemoval>(
      `select r.user_id, r.hard_delete, r.actor_id, u.kind from user_removals r join users u on u.id = r.user_id
       where $1::bigint is null or r.user_id = $1 order by r.user_id limit 1 for update of r skip locked`,
      [userId],
    );
    if (pending) await this.steps.runNextStep(tx, pending);
    return pending !== undefined;
  }

  private async lockUser(tx: Tx, id: number): Promise<LockedUser> {
    const [user] = await tx.query<LockedUser>(
      `select kind, admin, updated_at, exists (select 1 from user_removals r where r.user_id = u.id) as is_pending
       from users u where id = $1 for no key update`,
      [id],
    );
    if (!user) throw new NotFound('User');
    return user;
  }

  private async enqueueRemainingSteps(tx: Tx, userId: number): Promise<void> {
    await this.jobs.enqueue(tx, finishUserRemoval, { user_id: userId });
  }
}
