import type { Readable } from 'node:stream';
import type { INTERNAL_PATHS, ServiceName } from '@rookery/contracts';
import { INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import type { Dispatcher } from 'undici';
import { KEPT_IDLE_MS } from '../boot/drain-http';
import type { InternalKeys } from '../signing/internal-keys';
import { currentWaiter } from '../waiting/waiter';
import type { Neighbours } from '../neighbours/neighbours';

/** A route of another service and the way to it. */
export interface InternalRouteOptions {
  readonly caller: ServiceName;
  readonly callee: ServiceName;
  /** Address of the callee; may have a path. */
  readonly url: string;
  readonly path: (typeof INTERNAL_PATHS)[keyof typeof INTERNAL_PATHS];
  readonly keys: InternalKeys;
  readonly neighbours: Neighbours;
  readonly connections: number;
  /** Longest wait for an answer. Units: ms. */
  readonly maxWaitMs: number;
  /** Part of the request's remaining time that may be spent here. Units: ms. Default: all of it. */
  readonly share?: (leftMs: number) => number;
}

/** An answer of another service other than 200. */
export class InternalRefusal extends Error {
  constructor(
    callee: ServiceName,
    readonly status: number,
    /** Wait before another question, if the callee names one. Units: seconds. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(`${callee} answered ${status}`);
  }
}

/**
 * Client for one POST route of another service. A call ends at the deadline of the request on whose behalf it runs.
 * `Question` and `Answer` are those of the contract of the path. Source: ADR 0170.
 */
export class InternalRouteClient<Question extends object, Answer> {
  private readonly connection: Dispatcher;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(private readonly options: InternalRouteOptions) {
    const { caller, callee, connections, maxWaitMs: connectTimeout } = options;
    const url = new URL(options.url);
    this.path = url.pathname.replace(/\/+$/, '') + options.path;
    const pool = { connections, pipelining: 1, connectTimeout, keepAliveMaxTimeout: KEPT_IDLE_MS };
    this.connection = options.neighbours.connect(callee, url.origin, pool);
    this.headers = {
      authorization: options.keys.signAuthorization(caller, callee),
      'content-type': 'application/json',
      'user-agent': `rookery-${caller}`,
    };
  }

  /** Errors: a plain Error without an answer in time, InternalRefusal for an answer other than 200. */
  async ask(question: Question): Promise<Answer> {
    const waitMs = this.maxWaitNowMs();
    return (await (await this.postQuestion(question, waitMs, AbortSignal.timeout(waitMs))).json()) as Answer;
  }

  /**
   * Opens a streamed answer. The deadline of the request applies only until the answer begins; destroying the stream
   * ends the call. Errors: as `ask`, until the answer begins.
   */
  async open(question: Question): Promise<Readable> {
    const waitMs = this.maxWaitNowMs();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), waitMs);
    try {
      return await this.postQuestion(question, waitMs, late.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends a stream as the body, and the question as the query. The time limit for the answer begins at the end of the
   * stream; the deadline of the running request does not apply. Errors: as `ask`; that of the stream; the signal's reason.
   */
  async send(question: Question & Readonly<Record<string, string>>, content: Readable, signal: AbortSignal) {
    const { maxWaitMs } = this.options;
    const ending = new AbortController();
    const late = (): void => ending.abort(new Error(`${this.options.callee} did not answer in time`));
    let timer: NodeJS.Timeout | undefined;
    content.once('end', () => (timer = setTimeout(late, maxWaitMs)));
    try {
      const { statusCode, headers, body } = await this.connection.request({
        method: 'POST',
        path: `${this.path}?${new URLSearchParams(question).toString()}`,
        headers: { ...this.headers, 'content-type': 'application/octet-stream' },
        body: content,
        signal: AbortSignal.any([signal, ending.signal]),
      });
      return (await this.bodyOrRefusal(statusCode, headers, body).then((answer) => answer.json())) as Answer;
    } finally {
      clearTimeout(timer);
      content.destroy();
    }
  }

  private maxWaitNowMs(): number {
    const { maxWaitMs, share = (leftMs) => leftMs } = this.options;
    const leftMs = share((currentWaiter()?.deadline ?? Infinity) - Date.now());
    return Math.round(Math.max(1, Math.min(maxWaitMs, leftMs)));
  }

  private async postQuestion(question: Question, waitMs: number, signal: AbortSignal) {
    const { statusCode, headers, body } = await this.connection.request({
      method: 'POST',
      path: this.path,
      headers: { ...this.headers, [INTERNAL_WAIT_HEADER]: String(waitMs) },
      body: JSON.stringify(question),
      signal,
    });
    return this.bodyOrRefusal(statusCode, headers, body);
  }

  private async bodyOrRefusal(
    status: number,
    headers: Dispatcher.ResponseData['headers'],
    body: Dispatcher.ResponseData['body'],
  ) {
    if (status === 200) return body;
    await body.dump();
    throw new InternalRefusal(this.options.callee, status, Number(headers['retry-after']) || null);
  }

  close(): Promise<void> {
    return this.connection.destroy();
  }
}
