import { DIRECTORY_VERSION_HEADER, IGNORED_HEADER, INTERNAL_HEADER_PREFIX } from '@rookery/contracts';

export interface UpstreamHead {
  /** Alternating names and values for the client. */
  readonly headers: string[];
  /** -1 if the service did not send it. Units: bytes. */
  readonly contentLength: number;
  /** Directory version of a write, which identity sends with the answer; null for other answers. */
  readonly directoryVersion: number | null;
  /** Remaining requests of the service's own rate limit; null if it sent none. */
  readonly limitLeft: number | null;
}

/** Headers of one connection, and headers that the gateway writes itself. */
const OURS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-content-type-options',
  'x-powered-by',
  'x-request-id',
  'x-runtime',
]);
/** Source: reference identity-and-import 1.4. */
export const CACHE_DEFAULT = 'max-age=0, private, must-revalidate';

/**
 * Selects the headers of a service's answer for the client. `raw` has alternating names and values, as bytes from
 * undici or as texts of a local call.
 */
export function filterUpstreamHeaders(raw: readonly (Buffer | string)[]): UpstreamHead {
  const headers: string[] = [];
  let contentLength = -1;
  let directoryVersion: number | null = null;
  let isCacheable = false;
  let limitLeft: number | null = null;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = toHeaderText(raw[index]!);
    const name = given.toLowerCase();
    if (OURS.has(name) || name.startsWith('access-control-')) continue;
    const value = toHeaderText(raw[index + 1]!);
    if (name.startsWith(INTERNAL_HEADER_PREFIX) && name !== IGNORED_HEADER) {
      if (name === DIRECTORY_VERSION_HEADER && /^\d{1,15}$/.test(value)) directoryVersion = Number(value);
      continue;
    }
    if (name === 'vary' && value.toLowerCase() === 'origin') continue;
    if (name === 'ratelimit-name') limitLeft ??= 0;
    else if (name === 'ratelimit-remaining') limitLeft = Number(value) || 0;
    if (name === 'content-length') contentLength = Number(value);
    else if (name === 'cache-control') isCacheable = true;
    headers.push(given, value);
  }
  if (!isCacheable) headers.push('Cache-Control', CACHE_DEFAULT);
  return { headers, contentLength, directoryVersion, limitLeft };
}

function toHeaderText(part: Buffer | string): string {
  return typeof part === 'string' ? part : part.toString('latin1');
}

/**
 * Keeps the tighter one of two rate limits in an answer, which the caller would reach first. `gatewayRateHeaders` has alternating
 * names and values. Source: reference identity-and-import 1.4.
 */
export function keepTighterRateLimitHeaders(
  head: UpstreamHead,
  gatewayRateHeaders: readonly string[],
): { headers: string[]; ours: readonly string[] } {
  const { headers, limitLeft } = head;
  if (limitLeft === null) return { headers, ours: gatewayRateHeaders };
  const at = gatewayRateHeaders.indexOf('RateLimit-Remaining');
  if (at < 0 || limitLeft <= Number(gatewayRateHeaders[at + 1])) return { headers, ours: [] };
  const others: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!/^ratelimit-/i.test(headers[index]!)) others.push(headers[index]!, headers[index + 1]!);
  }
  return { headers: others, ours: gatewayRateHeaders };
}
