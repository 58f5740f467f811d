import type { EgressAnswer } from '@rookery/egress';

type AnswerHead = Pick<EgressAnswer, 'headers'>;

/** Bounds of a pause. Units: ms. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 3_600_000;
const DEFAULT_PAUSE_MS = 60_000;
/** Clocks of two hosts differ. Units: ms. */
const MARGIN_MS = 5000;

/** Returns the time after which a rate-limited host may be asked again. */
export function parseRetryTime({ headers }: AnswerHead): Date {
  const seconds = parseNumber(headers['retry-after']);
  return seconds === null ? parseRateLimitResetTime(headers) : resumeTimeAfter(seconds * 1000);
}

/** Returns the time at which a rate limit ends. */
export function parseRateLimitResetTime(headers: EgressAnswer['headers']): Date {
  const reset = parseNumber(headers['x-ratelimit-reset']);
  return resumeTimeAfter(reset === null ? DEFAULT_PAUSE_MS : reset * 1000 + MARGIN_MS - Date.now());
}

function resumeTimeAfter(pauseMs: number): Date {
  return new Date(Date.now() + Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs)));
}

/** Returns the number in a header; null for another text. */
export function parseNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
