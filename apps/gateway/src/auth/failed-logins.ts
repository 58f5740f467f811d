import { setTimeout as delay } from 'node:timers/promises';
import { FairPlaces } from '@rookery/api-v4';
import { TooManyRequests } from '@rookery/kernel';
import { isRefusal, REFUSALS, shed } from '../request/refusal';
import type { CallerRequest } from '../request/caller';
import type { Refusal } from '../request/refusal';
import type { Tally } from '../metrics/tally';
import { MinuteLimit } from '../limits/rate-limits';

/**
 * Of the questions to identity, for credentials never seen good that come from addresses which guess. 200 is what one
 * address has of connections, so behind no proxy nobody is turned away.
 */
const GUESSES = {
  named: { name: 'checks_of_one_address', setting: null },
  count: 8,
  ofOneCaller: 2,
  waiting: 1000,
  waitingOfOneCaller: 200,
  waitingPart: 0.9,
} as const;
/** Said to nobody: whoever asked left the line. */
export const LEFT = shed();
/** How long the place of one that was no good stays taken for its address. Units: milliseconds. */
const PACE_MS = 20;

/**
 * Unknown credentials by address. A good one is let in whatever else comes from its address; past the limit the unknown
 * ones are told so, and those that were never seen to be good are looked at two at a time, so that guessing costs
 * identity little and whoever has a token a short wait. Source: reference reliability 6.3.
 */
export class FailedLogins {
  private readonly limit: MinuteLimit | null;
  private readonly places = new FairPlaces(GUESSES);

  constructor(
    limits: { readonly rateLimits: boolean; readonly rateFailedAuth: number },
    private readonly tally: Tally,
  ) {
    const setting = 'GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT';
    this.limit = limits.rateLimits
      ? new MinuteLimit('throttle_unknown_credentials', setting, limits.rateFailedAuth)
      : null;
    tally.lines.push(this.places);
  }

  /** The answer to a credential that nobody knows. */
  async refusal(address: string): Promise<Refusal> {
    const state = await this.limit?.limiter.penalty(address);
    if (!this.limit || !state) return REFUSALS.unauthorized;
    if (state.consumedPoints <= this.limit.points)
      return { ...REFUSALS.unauthorized, headers: this.limit.headers(state) };
    this.tally.throttled('failed_auth');
    return this.limit.refusal(state);
  }

  /** Looks at a credential that was never seen to be good, at once unless its address guesses. */
  async look<T extends object>(
    { address, deadline, onGone }: Pick<CallerRequest, 'address' | 'deadline' | 'onGone'>,
    look: () => Promise<T>,
  ): Promise<T | Refusal> {
    const state = await this.limit?.limiter.get(address);
    if (!this.limit || !state || state.consumedPoints < this.limit.points) return look();
    let isGone = false;
    const leaves = (leave: () => void): void =>
      onGone(() => {
        isGone = true;
        leave();
      });
    const asking = { impersonatorId: null, makerId: null, userId: null, address, deadline, onGone: leaves };
    let isGood = false;
    const looked = async (): Promise<T> => {
      const outcome = await look();
      isGood = !isRefusal(outcome);
      return outcome;
    };
    const pause = async (): Promise<void> => (isGood ? undefined : delay(PACE_MS));
    return this.places.run(asking, looked, pause).catch((error: unknown) => {
      if (error instanceof TooManyRequests) return isGone ? LEFT : shed();
      throw error;
    });
  }
}
