import { Injectable } from '@nestjs/common';
import { Egress, EgressError } from '@rookery/egress';
import type { EgressAnswer, EgressRequest, EgressStream } from '@rookery/egress';
import { parseRetryTime } from './rate-limits';
import { UpstreamError } from './upstream-error';

/** A request to the API of an upstream host. `secrets` are all forms of the credential, which no answer may repeat. */
export interface UpstreamRequest extends Pick<EgressRequest, 'url' | 'limits' | 'canLeaveServer' | 'signal'> {
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_QUOTED = 200;
/** Longest answer that failures quote. In a longer one, replacing a short credential takes seconds. Units: bytes. */
const MAX_QUOTABLE = 8192;
const TOO_LONG = 'The answer is too long to quote.';
/** Separators and brackets in one JSON answer. Each may become an object of many times its size. */
const MAX_PARTS = 500_000;
const [COMMA, BRACKET, BRACE] = Buffer.from(',[{');
const REPEATED = 'The answer repeats the credential.';

/** Requests to upstream hosts. Source: reference identity-and-import 6.12; reference reliability 8.1. */
@Injectable()
export class UpstreamRequests {
  constructor(private readonly egress: Egress) {}

  /** Checks whether the address of a host may be called. Errors: UpstreamError `address`. */
  async checkAddress(url: string): Promise<void> {
    try {
      await this.egress.checkedAddresses(url);
    } catch (error) {
      throw error instanceof EgressError ? new UpstreamError('address', error.message, { cause: error }) : error;
    }
  }

  /** Returns the HTTP answer, even if its status is a failure. Errors: UpstreamError if the host does not answer. */
  async send({ secrets: _, ...request }: UpstreamRequest): Promise<EgressAnswer> {
    try {
      return await this.egress.request(request);
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  /** Opens an answer whose body is read while it arrives. Errors: UpstreamError, from the body too. */
  async open({ secrets: _, ...request }: UpstreamRequest): Promise<EgressStream> {
    try {
      const answer = await this.egress.open(request);
      return { ...answer, body: withUpstreamErrors(answer.body) };
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  /** Returns the answer of a successful request. Errors: UpstreamError for any other answer. */
  async get(request: UpstreamRequest): Promise<EgressAnswer> {
    const answer = await this.send(request);
    assertUpstreamSuccess(answer, request.secrets);
    return answer;
  }
}

function toUpstreamError(error: unknown): unknown {
  if (!(error instanceof EgressError)) return error;
  return new UpstreamError(error.reason === 'address refused' ? 'address' : 'other', error.message, { cause: error });
}

async function* withUpstreamErrors(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw toUpstreamError(error);
  }
}

/** Errors: UpstreamError for another status than 200. */
export function assertUpstreamSuccess(answer: EgressAnswer, secrets: readonly string[]): void {
  const { status } = answer;
  if (status === 200) return;
  if (status === 401) throw new UpstreamError('credential', 'The credential is not accepted.', { status });
  if (isRateLimitedAnswer(answer)) {
    const retryAt = parseRetryTime(answer);
    throw new UpstreamError('limit', 'The rate of requests is limited.', { status, retryAt });
  }
  throw new UpstreamError('other', `${quoteBody(answer.body, secrets)} (HTTP ${status})`, { status });
}

/** Primary limits answer 403 without remaining requests, secondary ones 429, or 403 with `Retry-After`. */
export function isRateLimitedAnswer({ status, headers }: EgressAnswer): boolean {
  if (status === 429) return true;
  return status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined);
}

/**
 * Returns the JSON value of an answer; null for another text. Errors: UpstreamError for an answer that repeats the credential,
 * because its texts are shown to other users, and for one with too many parts.
 */
export function parseUpstreamJson({ status, body }: EgressAnswer, secrets: readonly string[]): unknown {
  if (secrets.some((secret) => body.includes(secret))) throw new UpstreamError('other', REPEATED, { status });
  if (hasTooManyJsonParts(body)) throw new UpstreamError('other', 'The answer has too many parts.', { status });
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** The answer of the host in one short line. A host that repeats the credential does not show it to anyone. */
function quoteBody(body: Buffer, secrets: readonly string[]): string {
  // A shortened answer could end with a part of the credential, which the replacement would miss.
  if (body.length > MAX_QUOTABLE) return TOO_LONG;
  const text = secrets
    .reduce((shown, secret) => shown.replaceAll(secret, '[credential]'), body.toString())
    .replace(/[\s\p{C}]+/gu, ' ');
  return text.trim().slice(0, MAX_QUOTED);
}

function hasTooManyJsonParts(body: Buffer): boolean {
  let parts = 0;
  for (const sign of body) if (sign === COMMA || sign === BRACKET || sign === BRACE) parts++;
  return parts > MAX_PARTS;
}
