import type { ServiceName } from '@rookery/contracts';
import { request } from 'undici';

const CHECK_MS = 1000;
const KEPT_MS = 1000;

/** Maps each service that is not ready to the reason. */
export type Reasons = Readonly<Record<string, string>>;

/** Asks every service whether it is ready, at most once a second, independent of how often it is called. */
export class ServiceReadiness {
  private askedAt = -Infinity;
  private answer: Promise<Reasons> = Promise.resolve({});

  /** `management` maps each service to the base address of its management server. */
  constructor(private readonly management: Readonly<Record<ServiceName, string>>) {}

  findReasons(): Promise<Reasons> {
    const now = performance.now();
    if (now - this.askedAt >= KEPT_MS) {
      this.askedAt = now;
      this.answer = this.findUnreadyServices();
    }
    return this.answer;
  }

  private async findUnreadyServices(): Promise<Reasons> {
    const outcomes = await Promise.all(
      Object.entries(this.management).map(async ([service, url]) => [service, await findUnreadyReason(url)] as const),
    );
    return Object.fromEntries(outcomes.filter((outcome): outcome is [string, string] => outcome[1] !== null));
  }
}

async function findUnreadyReason(managementUrl: string): Promise<string | null> {
  try {
    const { statusCode, body } = await request(`${managementUrl}/-/health/ready`, {
      signal: AbortSignal.timeout(CHECK_MS),
    });
    await body.dump();
    return statusCode === 200 ? null : 'not ready';
  } catch {
    return 'no answer';
  }
}
