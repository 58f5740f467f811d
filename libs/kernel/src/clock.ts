/** Source of the current time. Tests replace it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Injection token of the process's clock. */
export const CLOCK = Symbol('Clock');
