import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { throttled } from '../edge/refusal';
import type { Refusal } from '../edge/refusal';
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

interface Limit {
  readonly name: string;
  readonly points: number;
  readonly limiter: RateLimiterMemory;
}

const NONE: readonly string[] = [];

/**
 * How often one user, or one address without a user, may ask in a minute, by class of route. Each gateway allows its
 * part. Source: reference reliability 6.3; reference identity-and-import 1.4.
 */
export class RateLimits {
  private readonly limits: { readonly [K in 'anonymous' | RateClass]: Limit } | null;

  constructor(
    settings: RateSettings,
    private readonly tally: Tally,
  ) {
    const limit = (name: string, total: number): Limit => {
      const points = Math.max(1, Math.ceil(total / settings.replicas));
      return { name, points, limiter: new RateLimiterMemory({ points, duration: WINDOW_SECONDS }) };
    };
    this.limits = settings.rateLimits
      ? {
          anonymous: limit('throttle_unauthenticated_api', settings.ratePerAddress),
          api: limit('throttle_authenticated_api', settings.ratePerUser),
          packages: limit('throttle_authenticated_packages_api', settings.ratePackages),
          git: limit('throttle_authenticated_git', settings.ratePackages),
        }
      : null;
  }

  /** Whether anything is limited; callers skip the promise when not. */
  get areOn(): boolean {
    return this.limits !== null;
  }

  /** The headers to put on the answer, or the refusal. */
  async count(userId: number | null, address: string, rate: RateClass): Promise<readonly string[] | Refusal> {
    if (this.limits === null) return NONE;
    const limit = this.limits[userId === null ? 'anonymous' : rate];
    try {
      return headersOf(limit, await limit.limiter.consume(userId ?? address));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      this.tally.throttled(limit.name);
      return throttled([
        ...headersOf(limit, error),
        'RateLimit-ResetTime',
        new Date(Date.now() + error.msBeforeNext).toUTCString(),
        'Retry-After',
        String(Math.max(1, Math.ceil(error.msBeforeNext / 1000))),
      ]);
    }
  }
}

function headersOf({ name, points }: Limit, state: RateLimiterRes): string[] {
  return [
    'RateLimit-Name',
    name,
    'RateLimit-Limit',
    String(points),
    'RateLimit-Observed',
    String(state.consumedPoints),
    'RateLimit-Remaining',
    String(state.remainingPoints),
    'RateLimit-Reset',
    String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
  ];
}
