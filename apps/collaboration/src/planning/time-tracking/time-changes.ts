import { Invalid, Refused } from '@rookery/kernel';
import { durationIn, durationText } from './durations';

/** What is kept of a thing. Units: seconds. */
export interface Times {
  readonly estimate: number;
  readonly spent: number;
}

/** What becomes of it, and what the system says. Shape: null when nothing changes. */
export type TimeChange = { readonly times: Times; readonly told: string } | null;

/** As clients know it: a year of 365.25 days, whole ones. Units: seconds. */
const MOST_SPENT = 31_557_600;

/** What may become of times; pure. Source: reference work-tracking 2.7, 9.1. */
export const timeChanges = {
  /** Errors: Refused for what is no duration. */
  estimate(text: string, now: Times): TimeChange {
    const estimate = durationIn(text);
    if (estimate === null || estimate < 0) {
      throw new Refused('Time estimate must have a valid format and be greater than or equal to zero.');
    }
    if (estimate === now.estimate) return null;
    const length = durationText(estimate);
    return {
      times: { ...now, estimate },
      told: length === null ? 'removed time estimate' : `changed time estimate to ${length}`,
    };
  },

  /** Errors: Invalid for what is no duration, and for a total below nothing or above a year. */
  spend(text: string, now: Times): TimeChange {
    const seconds = durationIn(text);
    if (seconds === null || seconds === 0) {
      throw new Invalid({ base: ['Time spent must be formatted correctly. For example: 1h 30m.'] });
    }
    const spent = now.spent + seconds;
    if (spent < 0) throw new Invalid({ base: ['Time to subtract exceeds the total time spent'] });
    if (spent > MOST_SPENT) throw new Invalid({ base: ['Total time spent cannot exceed a year.'] });
    const length = durationText(Math.abs(seconds))!;
    return { times: { ...now, spent }, told: `${seconds > 0 ? 'added' : 'subtracted'} ${length} of time spent` };
  },

  resetSpent(now: Times): TimeChange {
    return now.spent === 0 ? null : { times: { ...now, spent: 0 }, told: 'removed time spent' };
  },
};
