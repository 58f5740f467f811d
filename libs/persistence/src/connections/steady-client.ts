import type { Socket } from 'node:net';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';

/** Longest time to open a connection; how long somebody waits for one that is open is another matter. Units: ms. */
const CONNECT_MS = 10_000;
/** How long after the server should have ended a statement its connection counts as dead. Units: ms. */
const BEYOND_SERVER_MS = 2000;
/** How soon a connection that nobody uses is asked by TCP whether it lives. Units: ms. */
const KEEP_ALIVE_MS = 5000;
/** How long the end of a connection may take. Units: ms. */
const GOODBYE_MS = 1000;
/** For the rest of a transaction that says that its statements take long: the server is asked by TCP all the while. */
const LONG_MS = 30 * 60_000;

/**
 * After how many statements of a connection its plans are made anew: first soon, then after eight times as many each time.
 */
const PLANS_ANEW = { first: 64, times: 8, last: 32_768 };

/**
 * A connection whose loss never ends the process, and that never keeps anybody waiting for nothing.
 *
 * Between being handed out, used and given back there are moments in which neither the pool nor TypeORM listens, and an
 * `error` event that nobody hears is thrown. Whoever runs a statement still gets its failure.
 *
 * A server ends its statements in time, but cannot say so through a network that swallows everything. So a connection
 * that was silent for a little longer than a statement may take is thrown away, and with it what waits for it. The clock
 * is that of the socket: it costs no timer a statement.
 *
 * A plan that was made while its tables were empty goes through all rows of them, and is kept until the server gathers
 * statistics, minutes later. So plans are dropped now and then: who plans anew sees how large the tables are by now.
 * Source: docs/reference/reliability.md 5; docs/performance.md 5.14.
 */
export class SteadyClient extends Client {
  private readonly silenceMs: number;
  private isEnding = false;
  private statements = 0;
  private plansUntil = PLANS_ANEW.first;

  constructor(config: ClientConfig = {}) {
    super({
      ...config,
      connectionTimeoutMillis: CONNECT_MS,
      // What is asked at once is sent at once; the server takes it in turn.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    this.on('error', () => undefined);
    const ask = super.query.bind(this) as (...what: unknown[]) => unknown;
    this.query = ((...what: unknown[]) => {
      this.statements += 1;
      if (this.statements === this.plansUntil) {
        this.plansUntil += Math.min(this.plansUntil * (PLANS_ANEW.times - 1), PLANS_ANEW.last);
        // It leaves with the statement that is asked; who waits for that hears of a lost connection.
        void (ask('discard plans') as Promise<unknown>).catch(() => undefined);
      }
      return ask(...what);
    }) as Client['query'];
    const statementMs = Number(config.statement_timeout || 0);
    this.silenceMs = statementMs === 0 ? 0 : statementMs + BEYOND_SERVER_MS;
    this.once('connect', () => {
      const { socket } = this;
      socket.setTimeout(this.silenceMs);
      socket.on('timeout', () => this.heardNothing());
    });
  }

  /** From now on statements may take long, until `hurry`. */
  takeTime(): void {
    if (this.silenceMs > 0) this.socket.setTimeout(LONG_MS);
  }

  hurry(): void {
    this.socket.setTimeout(this.silenceMs);
  }

  override end(): Promise<void>;
  override end(ended: (error: Error) => void): void;
  override end(ended?: (error: Error) => void): Promise<void> | void {
    this.isEnding = true;
    // The server says goodbye too; one that is out of reach is not waited for.
    this.socket.setTimeout(GOODBYE_MS);
    return ended ? super.end(ended) : super.end();
  }

  private heardNothing(): void {
    if (this.isEnding) return void this.socket.destroy();
    // While nothing is asked, nothing is to be heard.
    if (this.pg.readyForQuery) return;
    this.socket.destroy(new Error(`Connection terminated: the database said nothing for ${this.silenceMs} ms`));
  }

  private get socket(): Socket {
    return this.pg.connection.stream;
  }

  /** What pg's types do not tell. */
  private get pg(): { readonly readyForQuery: boolean; readonly connection: { readonly stream: Socket } } {
    return this as never;
  }
}
