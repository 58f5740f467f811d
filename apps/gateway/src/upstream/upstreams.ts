import type { ServiceName } from '@rookery/contracts';
import { SERVICE_NAMES } from '@rookery/contracts';
import { KEPT_IDLE_MS } from '@rookery/platform';
import type { LocalCall, LocalRequest, Neighbours } from '@rookery/platform';
import { Pool } from 'undici';

const CONNECT_MS = 1000;
/** Longest silence within an answer. Units: milliseconds. */
const SILENCE_MS = 30_000;
const RETRY_FRACTION = 0.1;
const RETRY_FLOOR = 10;
const WINDOW_MS = 10_000;

/** A request to a service before its context is signed. `headers` has alternating names and values. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: LocalRequest['body'];
}

/** The connections to the services, and a budget for retries. */
export class Upstreams {
  private readonly pools: ReadonlyMap<ServiceName, Pool>;
  private windowEnds = 0;
  private calls = 0;
  private retries = 0;

  constructor(
    urls: Readonly<Record<ServiceName, string>>,
    connections: number,
    private readonly neighbours: Neighbours,
  ) {
    this.pools = new Map(
      SERVICE_NAMES.map((service) => [
        service,
        new Pool(urls[service], {
          connections,
          connect: { timeout: CONNECT_MS },
          headersTimeout: 0,
          bodyTimeout: SILENCE_MS,
          keepAliveMaxTimeout: KEPT_IDLE_MS,
        }),
      ]),
    );
  }

  poolOf(service: ServiceName): Pool {
    this.calls += 1;
    return this.pools.get(service) as Pool;
  }

  /** Returns the local call of a request; null if the request must use HTTP. Source: ADR 0199. */
  accept(service: ServiceName, { method, path, headers, body }: Message): LocalCall | null {
    if (!this.neighbours.isTogether) return null;
    const fields: Record<string, string> = {};
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index]!;
      // Node's parser joins the values of some repeated headers and drops others.
      if (Object.hasOwn(fields, name)) return null;
      fields[name] = headers[index + 1]!;
    }
    return this.neighbours.accept(service, { method, url: path, headers: fields, body });
  }

  /**
   * Limits retries to ten and a tenth of the calls in ten seconds, so that retries do not double the load of a failing
   * service.
   */
  mayRetry(now: number): boolean {
    if (now > this.windowEnds) {
      this.windowEnds = now + WINDOW_MS;
      this.calls = 0;
      this.retries = 0;
    }
    if (this.retries >= RETRY_FLOOR + this.calls * RETRY_FRACTION) return false;
    this.retries += 1;
    return true;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }
}
