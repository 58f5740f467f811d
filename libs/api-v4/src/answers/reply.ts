import { IGNORED_HEADER, REPLAYED_HEADER } from '@rookery/contracts';
import type { KeptAnswer, LimitState } from '@rookery/platform';
import type { ApiReply } from '../call/api-request';
import type { RenderedError } from './errors';

/** Facts about a request that every answer needs. Units: `startedAt` as of performance.now(). */
export interface ReplyFacts {
  readonly requestId: string;
  readonly startedAt: number;
  readonly isHead: boolean;
  /** Returns additional headers of the service. */
  readonly more?: (() => readonly string[]) | null;
  /** Names of parameters that had no effect. */
  readonly unread?: readonly string[];
  /** State of the service's limit that counted the request. */
  readonly limit?: LimitState;
}

/**
 * Sends a JSON answer without Fastify's `send`, which would add a charset to the content type that clients do not
 * expect. `body` is null for an answer without a body. `extra` is a flat list of header names and values.
 * Source: reference identity-and-import 1.4; ADR 0030.
 */
export function writeJson(
  reply: ApiReply,
  facts: ReplyFacts,
  status: number,
  body: string | null,
  extra: readonly string[],
): void {
  const headers = commonHeaders(facts, 'max-age=0, private, must-revalidate');
  if (body !== null) {
    headers.push('content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)));
  } else if (status !== 204 && !facts.isHead) headers.push('content-length', '0');
  for (let i = 0; i < extra.length; i++) headers.push(extra[i]!);
  if (facts.limit !== undefined) headers.push(...rateLimitHeaders(facts.limit));
  reply.hijack();
  reply.raw.writeHead(status, headers);
  reply.raw.end(facts.isHead || body === null ? undefined : body);
}

/** Sends the answer of an error. If an answer has begun already, the connection is closed. */
export function writeError(reply: ApiReply, facts: ReplyFacts, error: RenderedError): void {
  if (reply.raw.headersSent) {
    // A closed connection shows the client that the answer that has begun is incomplete.
    reply.raw.destroy();
    return;
  }
  const headers = commonHeaders(facts, 'no-cache');
  for (const name of Object.keys(error.headers)) headers.push(name, error.headers[name]!);
  if (error.body !== null) {
    if (error.headers['content-type'] === undefined) headers.push('content-type', 'application/json');
    headers.push('content-length', String(Buffer.byteLength(error.body)));
  }
  reply.hijack();
  if (error.reason !== undefined) reply.raw.statusMessage = error.reason;
  reply.raw.writeHead(error.status, headers);
  reply.raw.end(facts.isHead || error.body === null ? undefined : error.body);
}

/** Sends the stored answer of a write with an idempotency key. Replays are identical except for the common headers. */
export function writeStoredAnswer(
  reply: ApiReply,
  facts: ReplyFacts,
  { status, headers, body }: KeptAnswer,
  isReplay: boolean,
): void {
  const all = commonHeaders(facts, status < 400 ? 'max-age=0, private, must-revalidate' : 'no-cache');
  all.push(...headers);
  if (body !== null) all.push('content-length', String(Buffer.byteLength(body)));
  if (isReplay) all.push(REPLAYED_HEADER, 'true');
  reply.hijack();
  reply.raw.writeHead(status, all);
  reply.raw.end(body ?? undefined);
}

const NO_VERSIONS: ReadonlySet<string> = new Set();

/** Returns the versions in `If-None-Match`, for weak comparison (RFC 9110 13.1.2); `*` is returned as `*`. */
export function parseIfNoneMatch(header: string | undefined): ReadonlySet<string> {
  if (header === undefined) return NO_VERSIONS;
  const tags = header.split(',').map((tag) => /^\s*(?:W\/)?(?:"(.*)"|(\*))\s*$/.exec(tag));
  return new Set(tags.flatMap((tag) => tag?.[1] ?? tag?.[2] ?? []));
}

/**
 * Returns the headers that an answer 429 has, with the rest of the limit. Source: reference identity-and-import 1.4.
 */
function rateLimitHeaders({ name, most, used, seconds }: LimitState): string[] {
  return [
    'ratelimit-name',
    name,
    'ratelimit-limit',
    String(most),
    'ratelimit-observed',
    String(used),
    'ratelimit-remaining',
    String(Math.max(0, most - used)),
    'ratelimit-reset',
    String(Math.ceil(Date.now() / 1000) + seconds),
  ];
}

/** Returns the headers of every answer, as a flat list of names and values. */
export function commonHeaders(facts: ReplyFacts, cacheControl: string): string[] {
  const seconds = ((performance.now() - facts.startedAt) / 1000).toFixed(6);
  const headers = [
    'cache-control',
    cacheControl,
    'vary',
    'Origin',
    'x-request-id',
    facts.requestId,
    'x-runtime',
    seconds,
  ];
  if (facts.unread && facts.unread.length > 0) headers.push(IGNORED_HEADER, facts.unread.join(', '));
  if (facts.more) headers.push(...facts.more());
  return headers;
}
