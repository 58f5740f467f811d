import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ShutdownOrder } from './shutdown';

/**
 * How long our own clients keep an unused connection. Shorter than the time between announcing the shutdown and closing
 * idle connections (`SHUTDOWN_DELAY_MS`), so no client sends a request over a connection that a stopping replica
 * closes: until then it has got `Connection: close`, or has closed the connection itself. Units: ms.
 */
export const KEPT_IDLE_MS = 3000;

/**
 * Registers the shutdown steps of an HTTP server. `announce`: every answer from now on has `Connection: close`, so that
 * clients move to other replicas. `stop-accepting`: no new connections, and idle ones are closed. `drain`: waits for
 * the requests in flight, except upgraded connections, and closes idle connections. Call it before the server listens.
 * Source: reference reliability 6.4.
 */
export function drainHttpServer(server: Server, shutdown: ShutdownOrder): void {
  const inFlight = new InFlightResponses();
  let isStopping = false;
  let drained = (): void => undefined;
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    const place = inFlight.addResponse(response);
    if (isStopping) askToCloseConnection(response);
    response.once('close', () => {
      inFlight.removeResponse(place);
      if (isStopping && inFlight.count === 0) drained();
    });
  });
  shutdown.addStep('announce', 'HTTP answers', () => {
    isStopping = true;
    for (const response of inFlight.openResponses()) askToCloseConnection(response);
    return Promise.resolve();
  });
  shutdown.addStep('stop-accepting', 'HTTP listener', () => {
    server.close();
    server.closeIdleConnections();
    return Promise.resolve();
  });
  shutdown.addStep('drain', 'requests in flight', async () => {
    if (inFlight.count > 0) await new Promise<void>((resolve) => (drained = resolve));
    // An answer whose head was sent before the stop left its connection open.
    server.closeIdleConnections();
  });
}

/**
 * Running responses, each at an index that is reused. A `Set` reallocates its table every few insertions and deletions,
 * and each table references the next: once one of them is in the old generation, all later ones stay until the next
 * full collection, with every request in them. Source: docs/performance.md 5.17.
 */
class InFlightResponses {
  private readonly places: (ServerResponse | null)[] = [];
  private readonly unused: number[] = [];

  get count(): number {
    return this.places.length - this.unused.length;
  }

  /** Adds a response and returns its index. */
  addResponse(response: ServerResponse): number {
    const place = this.unused.pop() ?? this.places.length;
    this.places[place] = response;
    return place;
  }

  removeResponse(place: number): void {
    this.places[place] = null;
    this.unused.push(place);
  }

  openResponses(): ServerResponse[] {
    return this.places.filter((response) => response !== null);
  }
}

/** Asks the client to close the connection after this answer. */
function askToCloseConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
