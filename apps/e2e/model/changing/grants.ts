import type { SeededRandom } from '../playing/seeded-random';
import { dayFromNow } from './changes';

const LEVELS = [10, 15, 20, 30, 40, 50];

/** A level and its expiry. */
export interface Grant {
  readonly level: number;
  /** An expiry of today ends the grant at once. */
  readonly isExpired: boolean;
  readonly expires_at: string | null;
}

/** Returns a random level, mostly long-lived; sometimes one that expires today, or on a past day, which is refused. */
export function randomGrant(random: SeededRandom): Grant {
  const level = random.pick(LEVELS)!;
  const today = dayFromNow(0);
  const expires_at = random.weighted<string | null>([
    [64, null],
    [20, dayFromNow(30)],
    [11, today],
    [5, dayFromNow(-1)],
  ]);
  return { level, isExpired: expires_at === today, expires_at };
}

export function describeGrant({ level, isExpired }: Pick<Grant, 'level' | 'isExpired'>): string {
  return `${level}${isExpired ? ' until today' : ''}`;
}
