import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawTarget } from '../routes/raw-target';
import type { Route } from '../routes/route';
import type { Caller } from './caller';
import { toGitRefusal, REFUSALS } from './refusal';
import type { Refusal } from './refusal';
import { clientAddress } from './request-head';
import type { RequestHead } from './request-head';

const REQUEST_ID = /^[A-Za-z0-9-]{1,64}$/;
const NO_HEADERS: readonly string[] = [];
const EXPOSED =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, RateLimit-Limit, RateLimit-Name, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset, RateLimit-ResetTime, Retry-After, X-Request-Id, Idempotency-Replayed, X-Rookery-Ignored';
/** The longest unread rest of a refused body that is read to keep the connection. Units: bytes. */
const MAX_DRAINED = 64 * 1024;
const LINGER_MS = 2000;
/** Rounding of the duration in refusals, so that hidden and missing resources are indistinguishable. Units: seconds. */
const REFUSAL_STEP = 0.1;

/** One HTTP request of a client with its response and its state in the gateway. */
export class Exchange {
  readonly receivedAt = Date.now();
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  /** Set once the route is found. */
  target!: RawTarget;
  route!: Route;
  caller!: Caller;
  /** Token that the service gives to a client that asks for one. */
  clientToken: string | null = null;
  /** The latest time for an answer. Units: epoch milliseconds. */
  deadline = 0;
  /** The query that is sent upstream. */
  query = '';
  /** Alternating names and values. */
  rateHeaders: readonly string[] = NO_HEADERS;
  /** The gateway's own refusal, if it sent one. */
  refused: { readonly refusal: Refusal; readonly cause: Error | undefined } | null = null;
  /** The client waits for a go-ahead before it sends its body. */
  expectsContinue = false;
  /** Time for the client to take the end of the answer. Units: milliseconds. */
  patienceMs = 30_000;
  private readonly startedAt = performance.now();

  /**
   * `settled` runs when the gateway has finished its work for the request, although the client may still be sending or
   * reading.
   */
  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly head: RequestHead,
    trustedProxies: number,
    private readonly settled: () => void,
  ) {
    this.method = request.method ?? 'GET';
    this.requestId = REQUEST_ID.test(head.requestId) ? head.requestId : randomUUID();
    this.address = clientAddress(request.socket.remoteAddress, head.forwardedFor, trustedProxies);
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  get hasBody(): boolean {
    return this.head.isChunked || this.head.contentLength > 0;
  }

  /** Runs a function once the client has gone. A property, so that it can be passed on without its object. */
  readonly onGone = (leave: () => void): void => {
    if (this.response.closed) leave();
    else this.response.once('close', leave);
  };

  /** Whether the client has gone or was answered. */
  get isOver(): boolean {
    return this.response.headersSent || this.response.destroyed;
  }

  sendContinue(): void {
    if (!this.expectsContinue) return;
    this.expectsContinue = false;
    this.response.writeContinue();
  }

  /** Headers that every answer carries. Source: reference identity-and-import 1.4. */
  commonHeaders(status: number): string[] {
    const seconds = this.elapsedMs / 1000;
    const shown = status < 400 ? seconds : Math.ceil(seconds / REFUSAL_STEP) * REFUSAL_STEP;
    const headers = [
      'Vary',
      'Origin',
      'X-Request-Id',
      this.requestId,
      'X-Runtime',
      shown.toFixed(6),
      'X-Content-Type-Options',
      'nosniff',
      ...this.rateHeaders,
    ];
    if (this.head.origin !== '') {
      headers.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED);
    }
    return headers;
  }

  /** Answers with a refusal, unless an answer has begun. `cause` is for the log. */
  refuse(refusal: Refusal, cause?: Error): void {
    if (this.isOver) return;
    this.refused = { refusal, cause };
    const isGit = (this.route as Route | undefined)?.rate === 'git';
    const { status, body, type, headers } = isGit ? toGitRefusal(refusal) : refusal;
    const all = ['Cache-Control', 'no-cache', ...this.commonHeaders(status), ...headers];
    if (body !== null) all.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(body)));
    if (this.hasUnreadBody) all.push('Connection', 'close');
    this.response.writeHead(status, all);
    this.end(this.method === 'HEAD' || body === null ? null : Buffer.from(body).toString('latin1'));
  }

  /** Whether the client may still be sending a body that is too long to read to its end. */
  get hasUnreadBody(): boolean {
    if (!this.hasBody || this.request.complete) return false;
    return this.expectsContinue || this.head.isChunked || this.head.contentLength > MAX_DRAINED;
  }

  /**
   * Ends an answer whose head is written. A client that is still sending gets the answer first, and the connection
   * closes after it had time to read. `last` is the rest of the body; its characters are bytes.
   */
  end(last: string | null = null): void {
    if (!this.hasUnreadBody) {
      if (last === null) this.response.end();
      else this.response.end(last, 'latin1');
      this.watchEnd();
      return;
    }
    if (last !== null) this.response.write(last, 'latin1');
    this.settled();
    if (this.expectsContinue) {
      this.response.end();
      this.watchEnd();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      this.response.end();
      this.watchEnd();
    };
    const timer = setTimeout(end, LINGER_MS);
    this.request.unpipe().once('end', end).once('close', end).resume();
  }

  /**
   * Called when the answer has been written. Breaks it off if the client does not take its end, which no `drain` follows.
   * Meanwhile it is no load.
   */
  watchEnd(): void {
    this.settled();
    if (!this.response.socket?.writableLength) return;
    const timer = setTimeout(() => this.breakOff(), this.patienceMs);
    this.response.once('close', () => clearTimeout(timer));
  }

  /**
   * Breaks off an answer that is not whole. A client of HTTP/1.0 takes the end of a connection for the end of the answer,
   * so the connection is reset.
   */
  breakOff(): void {
    this.request.socket.resetAndDestroy();
  }

  /** Answers 500 after an unexpected error, or breaks off an answer that has begun. */
  answerUnexpectedError(): void {
    if (this.response.headersSent) this.breakOff();
    else this.refuse(REFUSALS.internal);
  }
}
