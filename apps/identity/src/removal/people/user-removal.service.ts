import { Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { Conflict, Forbidden, NotFound } from '@rookery/kernel';
import type { RowOf, Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { Administrators } from '../../users/states/administrators';
import type { User } from '../../users/user.entity';
import type { PendingRemoval } from './account-removal';
import { GroupsOwnedAlone } from './groups-owned-alone';
import { RemovalSteps } from './removal-steps';

/** What is left of a removal after the call. */
export const finishUserRemoval = defineJob('finish-user-removal', object({ user_id: int }), {
  key: ({ user_id: id }) => String(id),
});

/** How somebody is removed. */
export interface UserRemovalOptions {
  /** With what they wrote and the groups that only they own; otherwise what they wrote goes to the ghost user. */
  readonly hardDelete: boolean;
  readonly actorId: number | null;
  /** Asked with the time of the last change before anything happens. */
  readonly unchanged?: (updatedAt: Date) => void;
}

type Known = RowOf<User, 'kind' | 'admin' | 'updatedAt'> & { readonly is_pending: boolean };

const SOLE_OWNER = 'User cannot be removed while is the sole-owner of a group';

/**
 * Removing people and bots for good. Somebody with few rows is gone when the call returns; the rest of a long removal is
 * a job, in further transactions.
 * Source: reference identity-and-import 5, 10.1; ADR 0136.
 */
@Injectable()
export class UserRemovalService {
  constructor(
    private readonly work: Work,
    private readonly administrators: Administrators,
    private readonly ownedAlone: GroupsOwnedAlone,
    private readonly steps: RemovalSteps,
    private readonly jobs: Jobs,
  ) {}

  /** Errors: NotFound; Conflict for the sole owner of a group without `hardDelete`; Forbidden. */
  remove(userId: number, how: UserRemovalOptions): Promise<void> {
    return this.work.run((tx) => this.removeIn(tx, userId, how));
  }

  /** As `remove`, in the caller's transaction. */
  async removeIn(tx: Tx, userId: number, how: UserRemovalOptions): Promise<void> {
    const user = await this.locked(tx, userId);
    how.unchanged?.(user.updated_at);
    if (user.is_pending) return this.goOn(tx, userId);
    if (user.kind === 'ghost') throw new Forbidden('An internal user cannot be removed by the API');
    if (user.admin) await this.administrators.keepOne(tx, userId);
    // A bot goes with its token, whatever that was allowed to do.
    if (!how.hardDelete && user.kind !== 'project_bot' && (await this.ownedAlone.of(tx, userId, 1)).length > 0)
      throw new Conflict(SOLE_OWNER);
    const pending = { user_id: userId, kind: user.kind, hard_delete: how.hardDelete, actor_id: how.actorId };
    await this.steps.begin(tx, pending);
    if (!(await this.steps.next(tx, pending))) await this.goOn(tx, userId);
  }

  /** Does all that is left of a removal, or of all of them. */
  async proceed(userId: number | null = null, signal?: AbortSignal): Promise<void> {
    while (await this.work.run((tx) => this.step(tx, userId))) signal?.throwIfAborted();
  }

  /** False when nothing is left, or somebody is at it. */
  private async step(tx: Tx, userId: number | null): Promise<boolean> {
    const [pending] = await tx.query<PendingRemoval>(
      `select r.user_id, r.hard_delete, r.actor_id, u.kind from user_removals r join users u on u.id = r.user_id
       where $1::bigint is null or r.user_id = $1 order by r.user_id limit 1 for update of r skip locked`,
      [userId],
    );
    if (pending) await this.steps.next(tx, pending);
    return pending !== undefined;
  }

  private async locked(tx: Tx, id: number): Promise<Known> {
    const [user] = await tx.query<Known>(
      `select kind, admin, updated_at, exists (select 1 from user_removals r where r.user_id = u.id) as is_pending
       from users u where id = $1 for no key update`,
      [id],
    );
    if (!user) throw new NotFound('User');
    return user;
  }

  private async goOn(tx: Tx, userId: number): Promise<void> {
    await this.jobs.enqueue(tx, finishUserRemoval, { user_id: userId });
  }
}
