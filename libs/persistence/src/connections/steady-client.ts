import type { Socket } from 'node:net';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';

/** Longest time to open a connection. The wait for one that is already open is limited elsewhere. Units: ms. */
const CONNECT_MS = 10_000;
/** How long after the statement timeout a silent connection counts as dead. Units: ms. */
const GRACE_MS = 2000;
/** Idle time of a connection until TCP keep-alive checks it. Units: ms. */
const KEEP_ALIVE_MS = 5000;
/** Longest time to close a connection. Units: ms. */
const CLOSE_MS = 1000;
/** Silence limit after `allowLongStatements`; TCP keep-alive checks the server meanwhile. Units: ms. */
const LONG_MS = 30 * 60_000;

/**
 * Statement counts of a connection at which its plans are discarded: after 64, then after eight times as many each
 * time.
 */
const PLAN_DISCARDS = { first: 64, times: 8, last: 32_768 };

/**
 * A connection whose loss never ends the process and never leaves a caller waiting forever.
 *
 * Between checkout, use and return there are moments in which neither the pool nor TypeORM listens, and an `error`
 * event without a listener is thrown. The caller of a statement still gets its failure.
 *
 * A server ends its statements in time, but cannot report that through a network that drops everything. So a connection
 * that was silent for a little longer than a statement may take is destroyed, and its pending statements fail. The
 * socket's own timer measures this, which costs no timer for each statement.
 *
 * A plan that was made while its tables were empty reads all their rows, and is kept until the server gathers
 * statistics minutes later. So plans are discarded now and then: the next plan uses the tables' current sizes.
 * Source: docs/reference/reliability.md 5; docs/performance.md 5.14.
 */
export class SteadyClient extends Client {
  private readonly silenceMs: number;
  private isEnding = false;
  private statements = 0;
  private nextDiscard = PLAN_DISCARDS.first;

  constructor(config: ClientConfig = {}) {
    super({
      ...config,
      connectionTimeoutMillis: CONNECT_MS,
      // Concurrent statements are sent at once; the server runs them in order.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    this.on('error', () => undefined);
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((...args: unknown[]) => {
      this.statements += 1;
      if (this.statements === this.nextDiscard) {
        this.nextDiscard += Math.min(this.nextDiscard * (PLAN_DISCARDS.times - 1), PLAN_DISCARDS.last);
        // Sent together with the next statement, whose caller gets the failure if the connection is lost.
        void (send('discard plans') as Promise<unknown>).catch(() => undefined);
      }
      return send(...args);
    }) as Client['query'];
    const statementMs = Number(config.statement_timeout || 0);
    this.silenceMs = statementMs === 0 ? 0 : statementMs + GRACE_MS;
    this.once('connect', () => {
      const { socket } = this;
      socket.setTimeout(this.silenceMs);
      socket.on('timeout', () => this.destroyIfSilent());
    });
  }

  /** Lets statements take long until `restoreSilenceLimit`. */
  allowLongStatements(): void {
    if (this.silenceMs > 0) this.socket.setTimeout(LONG_MS);
  }

  restoreSilenceLimit(): void {
    this.socket.setTimeout(this.silenceMs);
  }

  override end(): Promise<void>;
  override end(ended: (error: Error) => void): void;
  override end(ended?: (error: Error) => void): Promise<void> | void {
    this.isEnding = true;
    // The server closes its side too; an unreachable one is not waited for.
    this.socket.setTimeout(CLOSE_MS);
    return ended ? super.end(ended) : super.end();
  }

  private destroyIfSilent(): void {
    if (this.isEnding) return void this.socket.destroy();
    // An idle connection is silent by nature.
    if (this.pgInternals.readyForQuery) return;
    this.socket.destroy(new Error(`Connection terminated: the database said nothing for ${this.silenceMs} ms`));
  }

  private get socket(): Socket {
    return this.pgInternals.connection.stream;
  }

  /** Internals of pg that its types omit. */
  private get pgInternals(): { readonly readyForQuery: boolean; readonly connection: { readonly stream: Socket } } {
    return this as never;
  }
}
