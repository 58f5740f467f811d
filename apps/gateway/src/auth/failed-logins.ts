import { setTimeout as delay } from 'node:timers/promises';
import { FairSemaphore } from '@rookery/api-v4';
import { TooManyRequests } from '@rookery/kernel';
import { isRefusal, REFUSALS, shedRefusal } from '../request/refusal';
import type { CallerRequest } from '../request/caller';
import type { Refusal } from '../request/refusal';
import type { Tally } from '../metrics/tally';
import { MinuteLimit } from '../limits/rate-limits';

/**
 * Limits on checks of unknown credentials from addresses over the failure limit. One address has at most 200
 * connections, so without a proxy in between no caller is refused.
 */
const GUESS_LIMITS = {
  named: { name: 'checks_of_one_address', setting: null },
  count: 8,
  ofOneCaller: 2,
  waiting: 1000,
  waitingOfOneCaller: 200,
  waitingPart: 0.9,
} as const;
/** The outcome for a client that disconnected while it waited; it is sent to no client. */
export const CLIENT_GONE = shedRefusal();
/** How long the place of a failed check stays taken for its address. Units: milliseconds. */
const PACE_MS = 20;

/**
 * Limits unknown credentials by client address. A valid one is accepted regardless of other requests from its address.
 * Past the limit, unknown ones are answered 429, and those that were never valid before are checked two at a time, so
 * that guessing costs identity little and a caller with a valid token only a short wait. Source: reference reliability
 * 6.3.
 */
export class FailedLogins {
  private readonly limit: MinuteLimit | null;
  private readonly places = new FairSemaphore(GUESS_LIMITS);

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

  /** Counts an unknown credential and returns the answer to it. */
  async countUnknownCredential(address: string): Promise<Refusal> {
    const state = await this.limit?.limiter.penalty(address);
    if (!this.limit || !state) return REFUSALS.unauthorized;
    if (state.consumedPoints <= this.limit.points)
      return { ...REFUSALS.unauthorized, headers: this.limit.headers(state) };
    this.tally.countThrottled('failed_auth');
    return this.limit.refusal(state);
  }

  /** Checks a credential that was never valid before: at once, unless its address is over the limit. */
  async checkLogin<T extends object>(
    { address, deadline, onGone }: Pick<CallerRequest, 'address' | 'deadline' | 'onGone'>,
    resolve: () => Promise<T>,
  ): Promise<T | Refusal> {
    const state = await this.limit?.limiter.get(address);
    if (!this.limit || !state || state.consumedPoints < this.limit.points) return resolve();
    let isGone = false;
    const leaves = (leave: () => void): void =>
      onGone(() => {
        isGone = true;
        leave();
      });
    const asking = { impersonatorId: null, creatorId: null, userId: null, address, deadline, onGone: leaves };
    let isGood = false;
    const checked = async (): Promise<T> => {
      const outcome = await resolve();
      isGood = !isRefusal(outcome);
      return outcome;
    };
    const pause = async (): Promise<void> => (isGood ? undefined : delay(PACE_MS));
    return this.places.run(asking, checked, pause).catch((error: unknown) => {
      if (error instanceof TooManyRequests) return isGone ? CLIENT_GONE : shedRefusal();
      throw error;
    });
  }
}
