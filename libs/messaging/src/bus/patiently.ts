import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@rookery/kernel';
import { isDatabaseAway, violates } from '@rookery/persistence';

/** Units: milliseconds. */
const BACKOFF_MS = { first: 100, most: 5000, growth: 2 };
/**
 * For a part that is behind rather than away, such as the copy of the directory, which is there in a moment: no pause is
 * much longer than a fifth of what was waited already.
 */
const SOON_MS = { first: 50, most: 1000, growth: 1.2 };

/**
 * Tries on while the surroundings are to blame, with growing pauses. Purpose: a database that is away is waited for
 * and never counted against a message.
 * Shape: null when `signal` is aborted meanwhile; `waits` hears the first failure.
 * Errors: whatever is not the surroundings' fault.
 */
export async function patiently<T>(
  use: () => Promise<T>,
  signal: AbortSignal,
  waits: (error: unknown) => void,
): Promise<T | null> {
  for (let round = 0; ; round += 1) {
    try {
      return await use();
    } catch (error) {
      if (!isSurroundings(error)) throw error;
      if (signal.aborted) return null;
      if (round === 0) waits(error);
      const { first, most: longest, growth } = isDatabaseAway(error) ? BACKOFF_MS : SOON_MS;
      const most = Math.min(longest, first * growth ** Math.min(round, 30));
      await pause(Math.random() * most, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The database or another part is away; a broken rule of a table is the message's own fault. */
function isSurroundings(error: unknown): boolean {
  if (violates(error)) return false;
  if (isDatabaseAway(error)) return true;
  // A statement that timed out is Unavailable too, but it may be this message that makes it slow: that counts.
  return error instanceof Unavailable && error.reason !== 'database slow';
}
