import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';

const readTlsFile = (name: string): string => readFileSync(join(__dirname, 'tls', name), 'utf8');
/** Certificate for `secure.example`, made for these tests and trusted nowhere else. */
export const CERTIFICATE = readTlsFile('server-cert.pem');

/** A real server that records connections and requests. */
export interface Outside {
  readonly port: number;
  /** Connections that were taken so far. */
  readonly connections: () => number;
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
}

/** Starts the server on loopback, by default on `127.0.0.1` and a free port. */
export async function startOutside(
  answer: RequestListener,
  o: { readonly isTls?: boolean; readonly host?: string; readonly port?: number } = {},
): Promise<Outside> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    response.on('error', () => undefined);
    answer(request, response);
  };
  const keys = { cert: CERTIFICATE, key: readTlsFile('server-key.pem') };
  const server: Server = o.isTls ? createTlsServer(keys, listener) : createServer(listener);
  server.on('tlsClientError', () => undefined).on('clientError', () => undefined);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => undefined));
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(o.port ?? 0, o.host ?? '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
