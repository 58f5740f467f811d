import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawTarget } from '../routes/raw-target';
import type { Route } from '../routes/route';
import type { Caller } from './caller';
import { REFUSALS } from './refusal';
import type { Refusal } from './refusal';
import { clientAddress } from './request-head';
import type { RequestHead } from './request-head';

const REQUEST_ID = /^[A-Za-z0-9-]{1,64}$/;
const NO_HEADERS: readonly string[] = [];
const EXPOSED =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, RateLimit-Limit, RateLimit-Name, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset, RateLimit-ResetTime, Retry-After, X-Request-Id, Idempotency-Replayed, X-Rookery-Ignored';
/** Unread rest of a refused body that is worth reading so that the connection can go on. Units: bytes. */
const WORTH_READING = 64 * 1024;
const LINGER_MS = 2000;
/** How exactly a refusal says what it took: hidden and missing things are to look alike. Units: seconds. */
const REFUSAL_STEP = 0.1;

/** One request and its answer, as far as they are known. */
export class Exchange {
  readonly receivedAt = Date.now();
  readonly requestId: string;
  readonly address: string;
  readonly method: string;
  /** Set once the router has spoken. */
  target!: RawTarget;
  route!: Route;
  caller!: Caller;
  /** Until when the client is kept waiting. Units: epoch milliseconds. */
  deadline = 0;
  /** Query as it goes upstream. */
  query = '';
  /** Names and values in turn. */
  rateHeaders: readonly string[] = NO_HEADERS;
  /** What the gateway answered by itself. */
  refused: { readonly refusal: Refusal; readonly cause: Error | undefined } | null = null;
  /** The client waits for a go-ahead before it sends its body. */
  expectsContinue = false;
  private readonly startedAt = performance.now();

  /**
   * Shape: `settled` runs when the gateway has finished its work for the request, although the client may still be
   * sending or reading.
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

  get hasBody(): boolean {
    return this.head.isChunked || this.head.contentLength > 0;
  }

  /** Has something done once the client is gone. A function of its own, which is handed on. */
  readonly onGone = (leave: () => void): void => {
    if (this.response.closed) leave();
    else this.response.once('close', leave);
  };

  /** Gone, or answered. */
  get isOver(): boolean {
    return this.response.headersSent || this.response.destroyed;
  }

  goAhead(): void {
    if (!this.expectsContinue) return;
    this.expectsContinue = false;
    this.response.writeContinue();
  }

  /** Headers that every answer carries. Source: reference identity-and-import 1.4. */
  commonHeaders(status: number): string[] {
    const seconds = (performance.now() - this.startedAt) / 1000;
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

  /** Shape: `cause` is for the log. */
  refuse(refusal: Refusal, cause?: Error): void {
    if (this.isOver) return;
    this.refused = { refusal, cause };
    const { status, body, type, headers } = refusal;
    const all = ['Cache-Control', 'no-cache', ...this.commonHeaders(status), ...headers];
    if (body !== null) all.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(body)));
    if (this.hasUnreadBody) all.push('Connection', 'close');
    this.response.writeHead(status, all);
    this.end(this.method === 'HEAD' || body === null ? null : Buffer.from(body).toString('latin1'));
  }

  /** Whether the client may still be sending a body that is worth no reading. */
  get hasUnreadBody(): boolean {
    if (!this.hasBody || this.request.complete) return false;
    return this.expectsContinue || this.head.isChunked || this.head.contentLength > WORTH_READING;
  }

  /**
   * Ends an answer whose head is written. A client that is still sending gets the answer first, and the connection ends
   * when it has had time to read it. Shape: `last` is the rest of the body; its characters are bytes.
   */
  end(last: string | null = null): void {
    if (!this.hasUnreadBody) {
      if (last === null) this.response.end();
      else this.response.end(last, 'latin1');
      return;
    }
    if (last !== null) this.response.write(last, 'latin1');
    this.settled();
    if (this.expectsContinue) {
      this.response.end();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      this.response.end();
    };
    const timer = setTimeout(end, LINGER_MS);
    this.request.unpipe().once('end', end).once('close', end).resume();
  }

  fail(): void {
    if (this.response.headersSent) this.response.destroy();
    else this.refuse(REFUSALS.internal);
  }
}
