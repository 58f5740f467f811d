import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS, boundedBody } from './bounded-body';
import { addressesOf, isSameOrigin, judged } from './destination';
import type { Destination, DestinationRules, Resolve } from './destination';
import { EgressError } from './egress-error';
import { failureOf } from './failures';
import { pinnedTo } from './pinned-connector';

/** Units: bytes and milliseconds. */
export interface EgressLimits {
  /** Of the answer's body, unpacked. */
  readonly bodyBytes: number;
  /** Until the head of an answer is there, the finding of addresses and the connection included. */
  readonly firstByteMs: number;
  /** Until the last byte, over all redirects. */
  readonly totalMs: number;
  readonly redirects: number;
}

export interface EgressRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly limits?: Partial<EgressLimits>;
  /** Media types that the answer may have; without, any. */
  readonly accepts?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface EgressAnswer {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

export interface EgressOptions extends DestinationRules {
  readonly resolve: Resolve;
  /** Certificates that are trusted besides those of Node. Shape: PEM. */
  readonly ca?: string;
}

const LIMITS: EgressLimits = { bodyBytes: 1024 * 1024, firstByteMs: 10_000, totalMs: 30_000, redirects: 3 };
const MAX_HEAD_BYTES = 16 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The only way by which Rookery asks servers that somebody named. Purpose: whoever may set an address cannot use it to
 * reach what lies beside the service, nor to keep it busy.
 * Shape: an address is judged as text, its name is looked up once, each of its addresses is judged, and the connection
 * goes to one of these. Redirects stay with host, port and scheme, on GET and HEAD alone, and each is judged anew.
 * Answers are whole; a status is an answer, whatever it says.
 * Errors: EgressError; the reason of `signal`.
 * Source: reference reliability 8.1.
 */
export class Egress {
  constructor(private readonly options: EgressOptions) {}

  async request(request: EgressRequest): Promise<EgressAnswer> {
    const limits = { ...LIMITS, ...request.limits };
    const deadline = Date.now() + limits.totalMs;
    for (let url = request.url, hop = 0; ; hop += 1) {
      const destination = judged(url, this.options);
      const answer = await this.timed(destination, request, limits, deadline);
      const next = nextOf(answer, destination, request, limits.redirects - hop);
      if (next === null) return answer;
      url = next;
    }
  }

  /** One request and one answer, within the times. */
  private async timed(
    destination: Destination,
    request: EgressRequest,
    limits: EgressLimits,
    deadline: number,
  ): Promise<EgressAnswer> {
    const ending = new AbortController();
    const late = (what: string) => () => ending.abort(new EgressError('too slow', `The server took too long ${what}.`));
    const whole = setTimeout(late('to answer'), Math.max(0, deadline - Date.now()));
    const first = setTimeout(late('to begin its answer'), limits.firstByteMs);
    const given = (): void => ending.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', given, { once: true });
    if (request.signal?.aborted) given();
    try {
      return await this.answerOf(destination, request, limits, ending.signal, () => clearTimeout(first));
    } catch (error) {
      throw ending.signal.aborted ? ending.signal.reason : failureOf(error);
    } finally {
      clearTimeout(whole);
      clearTimeout(first);
      request.signal?.removeEventListener('abort', given);
    }
  }

  private async answerOf(
    destination: Destination,
    request: EgressRequest,
    limits: EgressLimits,
    signal: AbortSignal,
    begun: () => void,
  ): Promise<EgressAnswer> {
    const { url } = destination;
    const addresses = await unlessAborted(addressesOf(destination, this.options.resolve), signal);
    const client = new Client(url.origin, {
      connect: pinnedTo(addresses, limits.firstByteMs, this.options.ca),
      maxHeaderSize: MAX_HEAD_BYTES,
      // Times are watched over by whoever calls.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    try {
      const answer = await client.request(sent(url, request, signal));
      begun();
      // An answer that is not read, or not to its end, is broken off; nobody waits for the error of that.
      answer.body.on('error', () => undefined);
      const headers = flat(answer.headers);
      const read = { status: answer.statusCode, headers, url: url.href };
      if (REDIRECTS.has(read.status)) return { ...read, body: Buffer.alloc(0) };
      checkType(headers['content-type'] ?? '', request.accepts);
      return { ...read, body: await boundedBody(answer.body, headers['content-encoding'] ?? '', limits.bodyBytes) };
    } finally {
      await client.destroy();
    }
  }
}

function sent(url: URL, { method = 'GET', headers, body }: EgressRequest, signal: AbortSignal) {
  const own = { 'accept-encoding': ACCEPTED_ENCODINGS, 'user-agent': 'Rookery', ...headers };
  const path = `${url.pathname}${url.search}`;
  return { path, method, headers: own, body: body ?? null, signal } satisfies Dispatcher.RequestOptions;
}

/** Where the answer leads, null when it is the end. Errors: EgressError `redirected`. */
function nextOf(
  { status, headers }: EgressAnswer,
  { url }: Destination,
  { method = 'GET' }: EgressRequest,
  left: number,
): string | null {
  const location = headers['location'];
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const next = URL.canParse(location, url.href) ? new URL(location, url.href) : null;
  if (next === null || !isSameOrigin(next, url)) {
    throw new EgressError('redirected', 'The server leads to another one, which is not followed.');
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new EgressError('redirected', 'The server leads elsewhere, and a write is not repeated there.');
  }
  if (left <= 0) throw new EgressError('redirected', 'The server leads from one address to the next.');
  next.hash = '';
  return next.href;
}

function checkType(type: string, accepts: readonly string[] | undefined): void {
  const name = type.split(';', 1)[0]!.trim().toLowerCase();
  if (accepts && !accepts.includes(name)) {
    throw new EgressError('malformed', `The answer is not ${accepts.join(' or ')}.`);
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(named) as Record<string, string>;
}

/** A name server cannot be interrupted, but need not be waited for. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
