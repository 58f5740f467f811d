import { Inject, Injectable } from '@nestjs/common';
import { Conflict, Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { Administrators } from '../user-states/administrators';
import type { UserKind } from '../users/user.entity';
import { RemovalSteps } from './removal-steps';
import type { Leaving } from './removal-steps';
import { SoleOwnership } from './sole-ownership';

/** How somebody goes. */
export interface Departure {
  /** With what he wrote and the groups that only he owns; otherwise what he wrote goes to the ghost user. */
  readonly hardDelete: boolean;
  readonly actorId: number | null;
  /** Asked with the time of the last change before anything happens. */
  readonly unchanged?: (updatedAt: Date) => void;
}

interface Known {
  readonly kind: UserKind;
  readonly admin: boolean;
  readonly updated_at: Date;
  readonly is_leaving: boolean;
}

const SOLE_OWNER = 'User cannot be removed while is the sole-owner of a group';

/**
 * Removing people and bots for good. Whoever has little is gone with the call; the rest of a long removal is done in
 * further transactions, by this process or by whichever looks next.
 * Source: reference identity-and-import 5, 10.1; ADR 0136.
 */
@Injectable()
export class UserRemoval {
  constructor(
    private readonly work: Work,
    private readonly administrators: Administrators,
    private readonly ownership: SoleOwnership,
    private readonly steps: RemovalSteps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Errors: NotFound; Conflict for the sole owner of a group without `hardDelete`; Forbidden. */
  remove(userId: number, how: Departure): Promise<void> {
    return this.work.run((tx) => this.removeIn(tx, userId, how));
  }

  /** As `remove`, in the caller's transaction. */
  async removeIn(tx: Tx, userId: number, how: Departure): Promise<void> {
    const user = await this.locked(tx, userId);
    how.unchanged?.(user.updated_at);
    if (user.is_leaving) return;
    if (user.kind === 'ghost') throw new Forbidden('An internal user cannot be removed by the API');
    if (user.admin) await this.administrators.keepOne(tx, userId);
    // A bot goes with its token, whatever that was allowed to do.
    if (!how.hardDelete && user.kind !== 'project_bot' && (await this.ownership.groupsOf(tx, userId, 1)).length > 0)
      throw new Conflict(SOLE_OWNER);
    const leaving = { user_id: userId, kind: user.kind, hard_delete: how.hardDelete, actor_id: how.actorId };
    await this.steps.begin(tx, leaving);
    if (!(await this.steps.next(tx, leaving))) tx.afterCommit(() => this.goOn());
  }

  /** Does all that is left of removals; a process that ends meanwhile leaves the rest to another. */
  async proceed(): Promise<void> {
    while (await this.work.run((tx) => this.step(tx)));
  }

  /** Any of them, so that one that fails does not hold up the others. False when nothing is left, or somebody is at it. */
  private async step(tx: Tx): Promise<boolean> {
    const [leaving] = await tx.query<Leaving>(
      `select r.user_id, r.hard_delete, r.actor_id, u.kind from user_removals r join users u on u.id = r.user_id
       order by random() limit 1 for update of r skip locked`,
    );
    if (leaving) await this.steps.next(tx, leaving);
    return leaving !== undefined;
  }

  private async locked(tx: Tx, id: number): Promise<Known> {
    const [user] = await tx.query<Known>(
      `select kind, admin, updated_at, exists (select 1 from user_removals r where r.user_id = u.id) as is_leaving
       from users u where id = $1 for no key update`,
      [id],
    );
    if (!user) throw new NotFound('User');
    return user;
  }

  private goOn(): void {
    this.proceed().catch((error: unknown) => this.logger.warn({ err: error }, 'a removal was interrupted'));
  }
}
