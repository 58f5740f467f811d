import { DIRECTORY_VERSION_HEADER, IGNORED_HEADER, INTERNAL_HEADER_PREFIX } from '@rookery/contracts';

export interface UpstreamHead {
  /** Names and values in turn, for the client. */
  readonly headers: string[];
  /** -1 when the service did not say. Units: bytes. */
  readonly contentLength: number;
  /** From identity's answers to writes; null otherwise. */
  readonly directoryVersion: number | null;
  /** The service tells of a limit of its own. */
  readonly isLimited: boolean;
}

/** Belong to one connection, or are written by the gateway itself. */
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

/** What of a service's headers the client sees. Shape: `raw` is names and values in turn, as undici gives them. */
export function clientHeaders(raw: readonly Buffer[]): UpstreamHead {
  const headers: string[] = [];
  let contentLength = -1;
  let directoryVersion: number | null = null;
  let isCacheable = false;
  let isLimited = false;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = (raw[index] as Buffer).toString('latin1');
    const name = given.toLowerCase();
    if (OURS.has(name) || name.startsWith('access-control-')) continue;
    const value = (raw[index + 1] as Buffer).toString('latin1');
    if (name.startsWith(INTERNAL_HEADER_PREFIX) && name !== IGNORED_HEADER) {
      if (name === DIRECTORY_VERSION_HEADER && /^\d{1,15}$/.test(value)) directoryVersion = Number(value);
      continue;
    }
    if (name === 'vary' && value.toLowerCase() === 'origin') continue;
    if (name === 'ratelimit-name') isLimited = true;
    if (name === 'content-length') contentLength = Number(value);
    else if (name === 'cache-control') isCacheable = true;
    headers.push(given, value);
  }
  if (!isCacheable) headers.push('Cache-Control', CACHE_DEFAULT);
  return { headers, contentLength, directoryVersion, isLimited };
}
