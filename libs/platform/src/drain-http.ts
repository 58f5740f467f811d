import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ShutdownOrder } from './shutdown';

/**
 * Puts an HTTP server under the shutdown order. `stop-accepting`: no new connections, and every answer from now on
 * says `Connection: close`. `drain`: waits for the requests in flight, upgraded connections excepted, and closes what
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
  shutdown.on('stop-accepting', 'HTTP listener', () => {
    isStopping = true;
    server.close();
    inFlight.forEach(sayClose);
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
