import type { ServiceName } from '@rookery/contracts';
import { request } from 'undici';

const CHECK_MS = 1000;
const KEPT_MS = 1000;

/** Reasons of services that are not ready. Shape: reason by service; empty when all are ready. */
export type Reasons = Readonly<Record<string, string>>;

/** Asks every service whether it is ready, at most once a second, independent of how often it is called. */
export class ServiceReadiness {
  private askedAt = -Infinity;
  private answer: Promise<Reasons> = Promise.resolve({});

  /** Shape: `management` holds the base address of each service's management server. */
  constructor(private readonly management: Readonly<Record<ServiceName, string>>) {}

  findReasons(): Promise<Reasons> {
    const now = performance.now();
    if (now - this.askedAt >= KEPT_MS) {
      this.askedAt = now;
      this.answer = this.askAll();
    }
    return this.answer;
  }

  private async askAll(): Promise<Reasons> {
    const outcomes = await Promise.all(
      Object.entries(this.management).map(async ([service, url]) => [service, await findReason(url)] as const),
    );
    return Object.fromEntries(outcomes.filter((outcome): outcome is [string, string] => outcome[1] !== null));
  }
}

async function findReason(url: string): Promise<string | null> {
  try {
    const { statusCode, body } = await request(`${url}/-/health/ready`, { signal: AbortSignal.timeout(CHECK_MS) });
    await body.dump();
    return statusCode === 200 ? null : 'not ready';
  } catch {
    return 'no answer';
  }
}
