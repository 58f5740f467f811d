import type { EgressAnswer } from '@rookery/egress';
import { assertInsideApi } from '../page-addresses';
import { parseNumber, parseRateLimitResetTime } from '../rate-limits';

type AnswerHead = Pick<EgressAnswer, 'headers'>;

/** When fewer requests remain, the import pauses and leaves them to other programs of the user. Source: reference identity-and-import 6.8. */
const SPARED_REQUESTS = 50;
const LINK = /<([^<>]{1,4096})>\s*;\s*rel="([a-z]+)"/g;

/**
 * Returns the address of the next page; null after the last page. Errors: UpstreamError for an address outside the API,
 * because it gets the credential. Source: reference identity-and-import 6.8.
 */
export function parseNextPage({ headers }: AnswerHead, api: string): string | null {
  const links = [...(headers['link'] ?? '').matchAll(LINK)];
  const next = links.find(([, , relation]) => relation === 'next')?.[1];
  if (next === undefined) return null;
  assertInsideApi(next, api);
  return next;
}

/** Returns the end of a pause that spares the last requests of a rate limit; null while there are more. */
export function parseRateLimitPauseEnd({ headers }: AnswerHead): Date | null {
  const remaining = parseNumber(headers['x-ratelimit-remaining']);
  if (remaining === null || remaining >= SPARED_REQUESTS) return null;
  return parseRateLimitResetTime(headers);
}
