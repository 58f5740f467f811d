import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DepartureSteps } from './departure-steps';
import type { Departure } from './departure-steps';

/** Units: milliseconds. */
const EVERY_MS = 5000;
/**
 * Units: seconds until the next round, by the number of the one that ended. What was under way when somebody was
 * removed, a request of his or an effect of what he did, may write his id once more.
 */
const ROUNDS: readonly number[] = [60, 3600];

/** Any of them, so that one that fails does not hold up the others. */
const due = prepared(
  'departures_due',
  `select user_id, ghost_user_id, hard_delete, round from user_departures where next_at <= now()
   order by random() limit 1 for update skip locked`,
);
/** $1 user, $2 round, $3 seconds. */
const later = prepared(
  'departures_later',
  `update user_departures set round = $2::integer, next_at = now() + $3::integer * interval '1 second'
   where user_id = $1::bigint`,
);
const over = prepared('departures_over', `delete from user_departures where user_id = $1::bigint`);
const knowsHeir = prepared('departures_knows_heir', `select 1 from directory_users where id = $1::bigint`);

/**
 * Works off the traces of removed people, in the worker role: one transaction of bounded size after the other, each of
 * which may be the last of its process. Source: reference identity-and-import 5; ADR 0138.
 */
@Injectable()
export class Departures {
  private readonly stopping = new AbortController();
  private napping = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly work: Work,
    private readonly steps: DepartureSteps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.running;
  }

  wake(): void {
    this.napping.abort();
  }

  /** Does what is due. Answers how many transactions that took. */
  async once(): Promise<number> {
    for (let count = 0; ; count += 1) {
      if (this.stopping.signal.aborted || !(await this.work.run((tx) => this.step(tx)))) return count;
    }
  }

  private async step(tx: Tx): Promise<boolean> {
    const [departure] = await tx.prepared<Departure & { readonly round: number }>(due, []);
    if (!departure) return false;
    const { user_id: userId, ghost_user_id: heirId, round } = departure;
    // The copy of the directory may be behind the event; until it knows the heir, nothing is his.
    if (heirId !== null && (await tx.prepared(knowsHeir, [heirId])).length === 0) {
      await tx.prepared(later, [userId, round, 1]);
      return true;
    }
    if (!(await this.steps.next(tx, departure))) return true;
    const seconds = ROUNDS[round - 1];
    await (seconds === undefined ? tx.prepared(over, [userId]) : tx.prepared(later, [userId, round + 1, seconds]));
    return true;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.napping = new AbortController();
      try {
        await this.once();
      } catch (error) {
        this.logger.warn({ err: error }, 'traces of removed people wait');
      }
      if (this.stopping.signal.aborted) return;
      await pause(EVERY_MS, undefined, { signal: this.napping.signal }).catch(() => undefined);
    }
  }
}
