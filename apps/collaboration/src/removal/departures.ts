import { Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { prepared, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { DepartureSteps } from './departure-steps';
import type { Departure } from './departure-steps';
import type { UserDeparture } from './user-departure.entity';

/** The traces of one removed person, worked off for one round. */
export const handOverTraces = defineJob('hand-over-traces', object({ user_id: int }), {
  key: ({ user_id: id }) => String(id),
});

/**
 * Units: seconds until the next round, by the number of the one that ended. What was under way when somebody was
 * removed, a request of theirs or an effect of what they did, may write their id once more.
 */
const ROUNDS: readonly number[] = [60, 3600];

/** $1 the one person, or null for anybody. */
const due = prepared(
  'departures_due',
  `select user_id, ghost_user_id, hard_delete, round from user_departures
   where next_at <= now() and ($1::bigint is null or user_id = $1::bigint)
   order by user_id limit 1 for update skip locked`,
);
/** $1 user, $2 round, $3 seconds. */
const later = prepared(
  'departures_later',
  `update user_departures set round = $2::integer, next_at = now() + $3::integer * interval '1 second'
   where user_id = $1::bigint returning next_at`,
);
const over = prepared('departures_over', `delete from user_departures where user_id = $1::bigint`);
const knowsHeir = prepared('departures_knows_heir', `select 1 from directory_users where id = $1::bigint`);

/**
 * Works off the traces of removed people: one transaction of bounded size after the other, each of which may be the last
 * of its process. Source: reference identity-and-import 5; ADR 0136.
 */
@Injectable()
export class Departures {
  constructor(
    private readonly work: Work,
    private readonly steps: DepartureSteps,
    private readonly jobs: Jobs,
  ) {}

  /** Does what is due, of one person or of all. Answers how many transactions that took. */
  async once(userId: number | null = null, signal?: AbortSignal): Promise<number> {
    for (let count = 0; ; count += 1) {
      signal?.throwIfAborted();
      if (!(await this.work.run((tx) => this.step(tx, userId)))) return count;
    }
  }

  private async step(tx: Tx, only: number | null): Promise<boolean> {
    const [departure] = await tx.prepared<Departure & RowOf<UserDeparture, 'round'>>(due, [only]);
    if (!departure) return false;
    const { user_id: userId, ghost_user_id: heirId, round } = departure;
    // The copy of the directory may be behind the event; until it knows the heir, nothing is theirs.
    if (heirId !== null && (await tx.prepared(knowsHeir, [heirId])).length === 0) {
      await this.putOff(tx, userId, round, 1);
      return true;
    }
    if (!(await this.steps.next(tx, departure))) return true;
    const seconds = ROUNDS[round - 1];
    await (seconds === undefined ? tx.prepared(over, [userId]) : this.putOff(tx, userId, round + 1, seconds));
    return true;
  }

  private async putOff(tx: Tx, userId: number, round: number, seconds: number): Promise<void> {
    const [row] = await tx.prepared<{ next_at: Date }>(later, [userId, round, seconds]);
    await this.jobs.enqueue(tx, handOverTraces, { user_id: userId }, { at: row!.next_at });
  }
}
