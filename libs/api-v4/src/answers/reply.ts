import { IGNORED_HEADER, REPLAYED_HEADER } from '@rookery/contracts';
import type { KeptAnswer, LimitState } from '@rookery/platform';
import type { FastifyReply } from 'fastify';
import type { RenderedError } from './errors';

/** What every answer of a request carries. Units: `startedAt` as of performance.now(). */
export interface ReplyFacts {
  readonly requestId: string;
  readonly startedAt: number;
  readonly isHead: boolean;
  /** Further headers of the service. */
  readonly more?: (() => readonly string[]) | null;
  /** Parameters that had no effect. */
  readonly unread?: readonly string[];
  /** A limit of the service that the request was counted by. */
  readonly limit?: LimitState;
}

/**
 * Writes an answer straight to the socket: Fastify's own `send` would add a charset to the content type, which
 * clients do not expect. Shape: `extra` is a flat list of names and values.
 * Source: reference identity-and-import 1.4; ADR 0030.
 */
export function writeJson(
  reply: FastifyReply,
  facts: ReplyFacts,
  status: number,
  body: string | null,
  extra: readonly string[],
): void {
  const headers = commonHeaders(facts, 'max-age=0, private, must-revalidate');
  if (body !== null) {
    headers.push('content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)));
  }
  for (let i = 0; i < extra.length; i++) headers.push(extra[i]!);
  if (facts.limit !== undefined) headers.push(...limitHeaders(facts.limit));
  reply.hijack();
  reply.raw.writeHead(status, headers);
  reply.raw.end(facts.isHead || body === null ? undefined : body);
}

export function writeError(reply: FastifyReply, facts: ReplyFacts, error: RenderedError): void {
  if (reply.raw.headersSent) {
    // Too late for another answer: a cut connection tells the client that this one is not whole.
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
  reply.raw.writeHead(error.status, headers);
  reply.raw.end(facts.isHead || error.body === null ? undefined : error.body);
}

/** An answer that is kept: also to be given again, then word for word. */
export function writeKept(
  reply: FastifyReply,
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

/** What `If-None-Match` names, compared weakly as RFC 9110 13.1.2 says for reads; `*` stays as it is. */
export function versionsIn(header: string | undefined): ReadonlySet<string> {
  if (header === undefined) return NO_VERSIONS;
  const tags = header.split(',').map((tag) => /^\s*(?:W\/)?(?:"(.*)"|(\*))\s*$/.exec(tag));
  return new Set(tags.flatMap((tag) => tag?.[1] ?? tag?.[2] ?? []));
}

/** As an answer of 429 has them, with what is left. Source: reference identity-and-import 1.4. */
function limitHeaders({ name, most, used, seconds }: LimitState): string[] {
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
