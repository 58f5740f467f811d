import type { SeededRandom } from '../playing/seeded-random';
import { dayFromNow } from './changes';

const LEVELS = [10, 15, 20, 30, 40, 50];

/** A level that is given, and until when. */
export interface Grant {
  readonly level: number;
  /** What ends today is over at once. */
  readonly over: boolean;
  readonly expires_at: string | null;
}

/** Some level, mostly for long; now and then until today, or until a day that is refused. */
export function anyGrant(random: SeededRandom): Grant {
  const level = random.pick(LEVELS)!;
  const today = dayFromNow(0);
  const expires_at = random.weighted<string | null>([
    [64, null],
    [20, dayFromNow(30)],
    [11, today],
    [5, dayFromNow(-1)],
  ]);
  return { level, over: expires_at === today, expires_at };
}

export function said({ level, over }: Pick<Grant, 'level' | 'over'>): string {
  return `${level}${over ? ' until today' : ''}`;
}
