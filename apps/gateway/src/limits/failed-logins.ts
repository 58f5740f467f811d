import { RateLimiterMemory } from 'rate-limiter-flexible';
import { throttled } from '../edge/refusal';
import type { Refusal } from '../edge/refusal';
import type { Tally } from '../metrics/tally';

const WINDOW_SECONDS = 60;

/**
 * Unknown credentials by address. Past the limit the address's next unleased credentials are refused unseen, which
 * keeps guessing away from identity; leases of good tokens go on. Source: reference reliability 6.3.
 */
export class FailedLogins {
  private readonly limiter: RateLimiterMemory | null;

  constructor(
    limits: { readonly rateLimits: boolean; readonly rateFailedAuth: number },
    private readonly tally: Tally,
  ) {
    this.limiter = limits.rateLimits
      ? new RateLimiterMemory({ points: limits.rateFailedAuth, duration: WINDOW_SECONDS })
      : null;
  }

  async note(address: string): Promise<void> {
    await this.limiter?.penalty(address);
  }

  async refusal(address: string): Promise<Refusal | null> {
    const state = await this.limiter?.get(address);
    if (!state || state.consumedPoints < (this.limiter?.points ?? Infinity)) return null;
    this.tally.throttled('failed_auth');
    return throttled(['Retry-After', String(Math.ceil(state.msBeforeNext / 1000))]);
  }
}
