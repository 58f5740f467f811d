import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS, decompressBoundedBody } from './bounded-body';
import { resolveAddresses, isSameOrigin, checkedDestination } from './destination';
import type { Destination, DestinationRules, Resolve } from './destination';
import { EgressError } from './egress-error';
import { toEgressError } from './failures';
import { createPinnedConnector } from './pinned-connector';

/** Units: bytes and milliseconds. */
export interface EgressLimits {
  /** Limit of the decompressed body of the answer. */
  readonly bodyBytes: number;
  /** Time until the head of the answer, including the DNS lookup and the connection. */
  readonly firstByteMs: number;
  /** Time until the last byte, over all redirects. */
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
  /** Accepted media types of the answer; absent: any. */
  readonly accepts?: readonly string[];
  /** Whether redirects to other servers are followed. They get none of `headers`. Default: such a redirect is an error. */
  readonly canLeaveServer?: boolean;
  readonly signal?: AbortSignal;
}

export interface EgressAnswer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** URL of the answer, after redirects. */
  readonly url: string;
}

/**
 * An answer whose body is read while it arrives. `body` fails with the errors of a request. The caller calls `close`
 * when it needs no more of the body, also after an error.
 */
export interface EgressStream extends Omit<EgressAnswer, 'body'> {
  readonly body: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** `isListed` is set if the operator listed the host, which then may use plain http. */
export interface CheckedAddresses {
  readonly addresses: readonly string[];
  readonly isListed: boolean;
}

export interface EgressOptions extends DestinationRules {
  readonly resolve: Resolve;
  /** Certificates in PEM that are trusted in addition to those of Node. */
  readonly ca?: string;
}

const LIMITS: EgressLimits = { bodyBytes: 1024 * 1024, firstByteMs: 10_000, totalMs: 30_000, redirects: 3 };
const MAX_HEAD_BYTES = 16 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The only way in which Rookery calls servers that a user named. A user who can set an address can use it neither to
 * reach the network of the service, nor to keep the service busy.
 *
 * The URL is checked, its name is looked up once, and each of its addresses is checked. The connection goes to one of
 * them. Only redirects of GET and HEAD are followed, and each is checked again. They keep host, port and scheme unless
 * the request allows otherwise, and never lead from a public server to a listed one. Every status counts as an answer.
 * Errors: EgressError; the reason of `signal`.
 * Source: reference reliability 8.1.
 */
export class Egress {
  constructor(private readonly options: EgressOptions) {}

  /** Reads the whole answer. */
  async request(request: EgressRequest): Promise<EgressAnswer> {
    const { body, close, ...answer } = await this.open(request);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of body) chunks.push(chunk);
    } finally {
      await close();
    }
    return { ...answer, body: Buffer.concat(chunks) };
  }

  /** Opens an answer, after redirects. Its limits of time and size hold until the end of the body. */
  async open(request: EgressRequest): Promise<EgressStream> {
    const limits = { ...LIMITS, ...request.limits };
    const deadline = Date.now() + limits.totalMs;
    let isFromPublic = false;
    for (let asked = request, hop = 0; ; hop += 1) {
      const destination = checkedDestination(asked.url, this.options);
      if (isFromPublic && destination.isListed) throw redirectToInternalHostError();
      isFromPublic = !destination.isListed;
      const answer = await this.sendRequest(destination, asked, limits, deadline);
      try {
        const next = nextRedirectUrl(answer, destination, asked, limits.redirects - hop);
        if (next === null) return answer;
        await answer.close();
        asked = isSameOrigin(next, destination.url)
          ? { ...asked, url: next.href }
          : { ...asked, url: next.href, headers: {} };
      } catch (error) {
        await answer.close();
        throw error;
      }
    }
  }

  /**
   * Checks an address for a program that connects by itself, such as git, and that must connect to these addresses only.
   * Errors: EgressError `address refused`, `name unknown`.
   */
  async checkedAddresses(url: string): Promise<CheckedAddresses> {
    const destination = checkedDestination(url, this.options);
    try {
      return { addresses: await resolveAddresses(destination, this.options.resolve), isListed: destination.isListed };
    } catch (error) {
      throw toEgressError(error);
    }
  }

  /** Sends one request and opens its answer, within the time limits. */
  private async sendRequest(
    destination: Destination,
    request: EgressRequest,
    limits: EgressLimits,
    deadline: number,
  ): Promise<EgressStream> {
    const ending = new AbortController();
    const tooSlow = (what: string) => () =>
      ending.abort(new EgressError('too slow', `The server took too long ${what}.`));
    const whole = setTimeout(tooSlow('to answer'), Math.max(0, deadline - Date.now()));
    const first = setTimeout(tooSlow('to begin its answer'), limits.firstByteMs);
    const onAbort = (): void => ending.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', onAbort, { once: true });
    if (request.signal?.aborted) onAbort();
    const call: OpenCall = {
      signal: ending.signal,
      failureOf: (error) => (ending.signal.aborted ? ending.signal.reason : toEgressError(error)),
      release: () => {
        clearTimeout(whole);
        clearTimeout(first);
        request.signal?.removeEventListener('abort', onAbort);
      },
    };
    try {
      return await this.readAnswer(destination, request, limits, call);
    } catch (error) {
      call.release();
      throw call.failureOf(error);
    } finally {
      clearTimeout(first);
    }
  }

  private async readAnswer(
    destination: Destination,
    request: EgressRequest,
    limits: EgressLimits,
    call: OpenCall,
  ): Promise<EgressStream> {
    const { url } = destination;
    const addresses = await unlessAborted(resolveAddresses(destination, this.options.resolve), call.signal);
    const client = new Client(url.origin, {
      connect: createPinnedConnector(addresses, limits.firstByteMs, this.options.ca),
      maxHeaderSize: MAX_HEAD_BYTES,
      // The caller enforces the time limits.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    try {
      const answer = await client.request(createEgressRequestOptions(url, request, call.signal));
      // A body that is not read to its end is destroyed; the resulting error is not needed.
      answer.body.on('error', () => undefined);
      const headers = joinHeaderValues(answer.headers);
      const read = { status: answer.statusCode, headers, url: url.href };
      const close = async (): Promise<void> => {
        call.release();
        await client.destroy();
      };
      if (REDIRECTS.has(read.status)) return { ...read, body: emptyBody(), close };
      checkMediaType(headers['content-type'] ?? '', request.accepts);
      const chunks = decompressBoundedBody(answer.body, headers['content-encoding'] ?? '', limits.bodyBytes);
      return { ...read, body: convertBodyFailures(chunks, call), close };
    } catch (error) {
      await client.destroy();
      throw error;
    }
  }
}

/** A running request. `failureOf` converts an error of the connection; `release` ends its timers. */
interface OpenCall {
  readonly signal: AbortSignal;
  failureOf(error: unknown): unknown;
  release(): void;
}

async function* emptyBody(): AsyncGenerator<Buffer> {
  // Bodies of redirects are not read.
}

async function* convertBodyFailures(chunks: AsyncIterable<Buffer>, call: OpenCall): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw call.failureOf(error);
  }
}

function createEgressRequestOptions(url: URL, { method = 'GET', headers, body }: EgressRequest, signal: AbortSignal) {
  const own = { 'accept-encoding': ACCEPTED_ENCODINGS, 'user-agent': 'Rookery', ...headers };
  const path = `${url.pathname}${url.search}`;
  return { path, method, headers: own, body: body ?? null, signal } satisfies Dispatcher.RequestOptions;
}

/** A listed host may be named by users, but a public server does not choose what is requested from it. */
function redirectToInternalHostError(): EgressError {
  return new EgressError('address refused', 'A public server leads to one of EGRESS_ALLOW, which is not followed.');
}

/** The next URL of a redirect; null when the answer is final. Errors: EgressError `redirected`. */
function nextRedirectUrl(
  { status, headers }: EgressStream,
  { url }: Destination,
  { method = 'GET', canLeaveServer = false }: EgressRequest,
  redirectsLeft: number,
): URL | null {
  const location = headers['location'];
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const next = URL.canParse(location, url.href) ? new URL(location, url.href) : null;
  if (next === null || !(canLeaveServer || isSameOrigin(next, url))) {
    throw new EgressError('redirected', 'The server leads to another one, which is not followed.');
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new EgressError('redirected', 'The server leads elsewhere, and a write is not repeated there.');
  }
  if (redirectsLeft <= 0) throw new EgressError('redirected', 'The server leads from one address to the next.');
  next.hash = '';
  return next;
}

function checkMediaType(type: string, accepts: readonly string[] | undefined): void {
  const name = type.split(';', 1)[0]!.trim().toLowerCase();
  if (accepts && !accepts.includes(name)) {
    throw new EgressError('malformed', `The answer is not ${accepts.join(' or ')}.`);
  }
}

function joinHeaderValues(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(named) as Record<string, string>;
}

/** Waits for work unless the signal is aborted first: a DNS lookup cannot be interrupted. */
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
