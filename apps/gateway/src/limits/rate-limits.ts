import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { throttled } from '../request/refusal';
import type { Refusal } from '../request/refusal';
import type { Tally } from '../metrics/tally';
import type { RateClass } from '../routes/route';

const WINDOW_SECONDS = 60;

export interface RateSettings {
  readonly rateLimits: boolean;
  readonly ratePerUser: number;
  readonly ratePerAddress: number;
  readonly ratePackages: number;
  readonly replicas: number;
}

/** A limit of requests a minute for each key. `setting` is the variable that sets it, for all replicas together. */
export class MinuteLimit {
  readonly limiter: RateLimiterMemory;

  constructor(
    readonly name: string,
    readonly setting: string,
    readonly points: number,
  ) {
    this.limiter = new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  }

  headers(state: RateLimiterRes): string[] {
    return [
      'RateLimit-Name',
      this.name,
      'RateLimit-Limit',
      String(this.points),
      'RateLimit-Observed',
      String(state.consumedPoints),
      'RateLimit-Remaining',
      String(state.remainingPoints),
      'RateLimit-Reset',
      String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
    ];
  }

  refusal(state: RateLimiterRes): Refusal {
    const { name, points: most, setting } = this;
    return throttled({ name, most, each: 'minute', setting }, [
      ...this.headers(state),
      'RateLimit-ResetTime',
      new Date(Date.now() + state.msBeforeNext).toUTCString(),
      'Retry-After',
      String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))),
    ]);
  }
}

const NONE: readonly string[] = [];

/**
 * Limits requests a minute of one user, or of one address without a user, by class of route. Each gateway allows its
 * share. Source: reference reliability 6.3; reference identity-and-import 1.4.
 */
export class RateLimits {
  private readonly limits: { readonly [K in 'anonymous' | RateClass]: MinuteLimit } | null;

  constructor(
    settings: RateSettings,
    private readonly tally: Tally,
  ) {
    const limit = (name: string, of: 'USER' | 'ADDRESS' | 'PACKAGES', total: number): MinuteLimit => {
      const points = Math.max(1, Math.ceil(total / settings.replicas));
      return new MinuteLimit(name, `GATEWAY_RATE_${of}_PER_MINUTE_COUNT`, points);
    };
    this.limits = settings.rateLimits
      ? {
          anonymous: limit('throttle_unauthenticated_api', 'ADDRESS', settings.ratePerAddress),
          api: limit('throttle_authenticated_api', 'USER', settings.ratePerUser),
          packages: limit('throttle_authenticated_packages_api', 'PACKAGES', settings.ratePackages),
          git: limit('throttle_authenticated_git', 'PACKAGES', settings.ratePackages),
        }
      : null;
  }

  /** Whether limits apply; callers skip the promise otherwise. */
  get isEnabled(): boolean {
    return this.limits !== null;
  }

  /** Counts a request. Returns the headers for its answer, or the refusal. */
  async count(userId: number | null, address: string, rate: RateClass): Promise<readonly string[] | Refusal> {
    if (this.limits === null) return NONE;
    const limit = this.limits[userId === null ? 'anonymous' : rate];
    try {
      return limit.headers(await limit.limiter.consume(userId ?? address));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      this.tally.countThrottled(limit.name);
      return limit.refusal(error);
    }
  }
}
