import type { EgressAnswer } from '@rookery/egress';
import { SourceError } from '../source-error';

type Head = Pick<EgressAnswer, 'headers'>;

/** When fewer requests remain, the import pauses and leaves them to other programs of the user. Source: reference identity-and-import 6.8. */
const SPARED_REQUESTS = 50;
/** Bounds of a pause. Units: ms. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 3_600_000;
const DEFAULT_PAUSE_MS = 60_000;
/** Clocks of two hosts differ. Units: ms. */
const MARGIN_MS = 5000;
const MAX_ADDRESS = 4096;
const LINK = /<([^<>]{1,4096})>\s*;\s*rel="([a-z]+)"/g;

/**
 * Returns the address of the next page; null after the last page. Errors: SourceError for an address outside the API,
 * because it gets the credential. Source: reference identity-and-import 6.8.
 */
export function nextPageIn({ headers }: Head, api: string): string | null {
  const links = [...(headers['link'] ?? '').matchAll(LINK)];
  const next = links.find(([, , relation]) => relation === 'next')?.[1];
  if (next === undefined) return null;
  if (!isInside(next, api) || next.length > MAX_ADDRESS) throw new SourceError('address', 'Invalid pagination URL.');
  return next;
}

function isInside(address: string, api: string): boolean {
  if (!URL.canParse(address)) return false;
  const [one, base] = [new URL(address), new URL(api)];
  const path = base.pathname.replace(/\/+$/, '');
  return (
    one.origin === base.origin && one.username === '' && one.password === '' && one.pathname.startsWith(`${path}/`)
  );
}

/** Returns the end of a pause that spares the last requests of a rate limit; null while there are more. */
export function pauseIn({ headers }: Head): Date | null {
  const remaining = numberIn(headers['x-ratelimit-remaining']);
  if (remaining === null || remaining >= SPARED_REQUESTS) return null;
  return resetTime(headers);
}

/** Returns the time after which a host answers that has refused a request because of its rate limit. */
export function retryTimeIn({ headers }: Head): Date {
  const seconds = numberIn(headers['retry-after']);
  return seconds === null ? resetTime(headers) : bounded(seconds * 1000);
}

function resetTime(headers: EgressAnswer['headers']): Date {
  const reset = numberIn(headers['x-ratelimit-reset']);
  return bounded(reset === null ? DEFAULT_PAUSE_MS : reset * 1000 + MARGIN_MS - Date.now());
}

function bounded(pauseMs: number): Date {
  return new Date(Date.now() + Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs)));
}

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
