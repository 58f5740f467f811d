import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@rookery/kernel';
import { isDatabaseAway, violatesConstraint } from '@rookery/persistence';

/** Units: milliseconds. */
const BACKOFF_MS = { first: 100, most: 5000, growth: 2 };
/**
 * For a service that is behind but not down, such as the copy of the directory, which catches up quickly: no pause is
 * much longer than a fifth of the time waited so far.
 */
const CATCH_UP_BACKOFF_MS = { first: 50, most: 1000, growth: 1.2 };

/**
 * Retries with growing pauses while the database or another service is unavailable, which must not count as a failed
 * try of a message. Returns null if `signal` is aborted meanwhile. `onWait` receives the first failure.
 * Errors: all others.
 */
export async function retryWhileUnavailable<T>(
  use: () => Promise<T>,
  signal: AbortSignal,
  onWait: (error: unknown) => void,
): Promise<T | null> {
  for (let round = 0; ; round += 1) {
    try {
      return await use();
    } catch (error) {
      if (!isOutage(error)) throw error;
      if (signal.aborted) return null;
      if (round === 0) onWait(error);
      const { first, most: longest, growth } = isDatabaseAway(error) ? BACKOFF_MS : CATCH_UP_BACKOFF_MS;
      const most = Math.min(longest, first * growth ** Math.min(round, 30));
      await pause(Math.random() * most, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Whether the database or another service is down. A violated constraint is the message's own fault. */
function isOutage(error: unknown): boolean {
  if (violatesConstraint(error)) return false;
  if (isDatabaseAway(error)) return true;
  // A statement timeout is Unavailable too, but this message may be what makes the statement slow, so it counts.
  return error instanceof Unavailable && error.reason !== 'database slow';
}
