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
  const inFlight = new Set<ServerResponse>();
  let isStopping = false;
  let drained = (): void => undefined;
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    inFlight.add(response);
    if (isStopping) sayClose(response);
    response.once('close', () => {
      inFlight.delete(response);
      if (isStopping && inFlight.size === 0) drained();
    });
  });
  shutdown.on('announce', 'HTTP answers', () => {
    isStopping = true;
    inFlight.forEach(sayClose);
    return Promise.resolve();
  });
  shutdown.on('stop-accepting', 'HTTP listener', () => {
    server.close();
    server.closeIdleConnections();
    return Promise.resolve();
  });
  shutdown.on('drain', 'requests in flight', async () => {
    if (inFlight.size > 0) await new Promise<void>((resolve) => (drained = resolve));
    // An answer whose head had gone out before the stop left its connection open.
    server.closeIdleConnections();
  });
}

function sayClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
