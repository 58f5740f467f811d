import { Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { prepareStatement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { UserReferenceRemovalSteps } from './user-reference-removal-steps';
import type { Departure } from './user-reference-removal-steps';
import type { UserDeparture } from './user-departure.entity';

/** Job that handles the person references of one removed user for one round. */
export const handOverReferences = defineJob('hand-over-traces', object({ user_id: int }), {
  key: ({ user_id: id }) => String(id),
});

/**
 * Units: seconds until the next round, by the number of the previous one. Further rounds are needed because requests and
 * effects that were in progress during the removal may still write the user's id.
 */
const ROUNDS: readonly number[] = [60, 3600];

/** `$1`: user id, or null for any user. */
const lockDueDeparture = prepareStatement(
  'departures_due',
  `select user_id, ghost_user_id, hard_delete, round from user_departures
   where next_at <= now() and ($1::bigint is null or user_id = $1::bigint)
   order by user_id limit 1 for update skip locked`,
);
/** `$1`: user id; `$2`: round; `$3`: seconds until then. */
const reschedule = prepareStatement(
  'departures_later',
  `update user_departures set round = $2::integer, next_at = now() + $3::integer * interval '1 second'
   where user_id = $1::bigint returning next_at`,
);
const deleteDeparture = prepareStatement('departures_over', `delete from user_departures where user_id = $1::bigint`);
const findHeir = prepareStatement('departures_knows_heir', `select 1 from directory_users where id = $1::bigint`);

/**
 * Handles the person references of removed users in transactions of bounded size. The process may be stopped after any of
 * them. Source: reference identity-and-import 5; ADR 0136.
 */
@Injectable()
export class UserRemovals {
  constructor(
    private readonly work: Work,
    private readonly steps: UserReferenceRemovalSteps,
    private readonly jobs: Jobs,
  ) {}

  /** Runs due work, of one user or of all. Returns the number of transactions. */
  async runOnce(userId: number | null = null, signal?: AbortSignal): Promise<number> {
    for (let count = 0; ; count += 1) {
      signal?.throwIfAborted();
      if (!(await this.work.run((tx) => this.runStep(tx, userId)))) return count;
    }
  }

  /** Returns false if nothing was due. */
  private async runStep(tx: Tx, onlyUserId: number | null): Promise<boolean> {
    const [departure] = await tx.prepared<Departure & RowOf<UserDeparture, 'round'>>(lockDueDeparture, [onlyUserId]);
    if (!departure) return false;
    const { user_id: userId, ghost_user_id: heirId, round } = departure;
    // The directory copy may be behind the event: wait until it has the ghost user before assigning rows to it.
    if (heirId !== null && (await tx.prepared(findHeir, [heirId])).length === 0) {
      await this.postponeDeparture(tx, userId, round, 1);
      return true;
    }
    if (!(await this.steps.runNextStep(tx, departure))) return true;
    const seconds = ROUNDS[round - 1];
    await (seconds === undefined
      ? tx.prepared(deleteDeparture, [userId])
      : this.postponeDeparture(tx, userId, round + 1, seconds));
    return true;
  }

  private async postponeDeparture(tx: Tx, userId: number, round: number, seconds: number): Promise<void> {
    const [row] = await tx.prepared<{ next_at: Date }>(reschedule, [userId, round, seconds]);
    await this.jobs.enqueue(tx, handOverReferences, { user_id: userId }, { at: row!.next_at });
  }
}
