import { Invalid, Refused } from '@rookery/kernel';
import { parseDuration, formatDuration } from './durations';

/** Tracked times of a noteable. Units: seconds. */
export interface TrackedTimes {
  readonly estimate: number;
  readonly spent: number;
}

/** Changed times, and the text of the system note. Null if nothing changes. */
export type TimeChange = { readonly times: TrackedTimes; readonly note: string } | null;

/** Maximum total of the API: a year of 365.25 days of 24 hours. Units: seconds. */
const MOST_SPENT = 31_557_600;

/** Changes of tracked times, as pure functions. Source: reference work-tracking 2.7, 9.1. */
export const timeChanges = {
  /** Sets the estimate. Errors: Refused for an invalid duration. */
  estimate(text: string, now: TrackedTimes): TimeChange {
    const estimate = parseDuration(text);
    if (estimate === null || estimate < 0) {
      throw new Refused('Time estimate must have a valid format and be greater than or equal to zero.');
    }
    if (estimate === now.estimate) return null;
    const length = formatDuration(estimate);
    return {
      times: { ...now, estimate },
      note: length === null ? 'removed time estimate' : `changed time estimate to ${length}`,
    };
  },

  /**
   * Adds or subtracts spent time. Errors: Invalid for an invalid duration, and for a total below zero or above a year.
   */
  spend(text: string, now: TrackedTimes): TimeChange {
    const seconds = parseDuration(text);
    if (seconds === null || seconds === 0) {
      throw new Invalid({ base: ['Time spent must be formatted correctly. For example: 1h 30m.'] });
    }
    const spent = now.spent + seconds;
    if (spent < 0) throw new Invalid({ base: ['Time to subtract exceeds the total time spent'] });
    if (spent > MOST_SPENT) throw new Invalid({ base: ['Total time spent cannot exceed a year.'] });
    const length = formatDuration(Math.abs(seconds))!;
    return { times: { ...now, spent }, note: `${seconds > 0 ? 'added' : 'subtracted'} ${length} of time spent` };
  },

  resetSpent(now: TrackedTimes): TimeChange {
    return now.spent === 0 ? null : { times: { ...now, spent: 0 }, note: 'removed time spent' };
  },
};
