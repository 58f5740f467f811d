import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ShutdownOrder } from './shutdown';

/**
 * How long a caller of ours keeps a connection that nobody uses. Shorter than the time between announcing the end and
 * closing idle connections (`SHUTDOWN_DELAY_MS`), so nobody writes into one that a stopping replica is about to close:
 * it was told in the meantime, or is given up. Units: ms.
 */
export const KEPT_IDLE_MS = 3000;

/**
 * Puts an HTTP server under the shutdown order. `announce`: every answer from now on says `Connection: close`, so that
 * callers move to other replicas. `stop-accepting`: no new connections, and idle ones are closed. `drain`: waits for the requests in flight, upgraded connections excepted, and closes what
 * is kept alive. Call it before the server listens. Source: reference reliability 6.4.
 */
export function drainHttpServer(server: Server, shutdown: ShutdownOrder): void {
  const inFlight = new InFlight();
  let isStopping = false;
  let drained = (): void => undefined;
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    const place = inFlight.take(response);
    if (isStopping) sayClose(response);
    response.once('close', () => {
      inFlight.free(place);
      if (isStopping && inFlight.count === 0) drained();
    });
  });
  shutdown.on('announce', 'HTTP answers', () => {
    isStopping = true;
    for (const response of inFlight.all()) sayClose(response);
    return Promise.resolve();
  });
  shutdown.on('stop-accepting', 'HTTP listener', () => {
    server.close();
    server.closeIdleConnections();
    return Promise.resolve();
  });
  shutdown.on('drain', 'requests in flight', async () => {
    if (inFlight.count > 0) await new Promise<void>((resolve) => (drained = resolve));
    // An answer whose head had gone out before the stop left its connection open.
    server.closeIdleConnections();
  });
}

/**
 * Answers that are under way, each in a place that the next one takes after it. A `Set` lays its table anew for every few
 * that come and go, and each table knows the next: once one of them is old to the garbage collector, all later ones stay
 * until the next full collection, and every request in them. Source: docs/performance.md 5.17.
 */
class InFlight {
  private readonly places: (ServerResponse | null)[] = [];
  private readonly unused: number[] = [];

  get count(): number {
    return this.places.length - this.unused.length;
  }

  /** Answers the place. */
  take(response: ServerResponse): number {
    const place = this.unused.pop() ?? this.places.length;
    this.places[place] = response;
    return place;
  }

  free(place: number): void {
    this.places[place] = null;
    this.unused.push(place);
  }

  all(): ServerResponse[] {
    return this.places.filter((response) => response !== null);
  }
}

function sayClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
