import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Below the ports of outgoing connections, so that nobody takes one while its server is away. */
const PORTS = { first: 20_000, count: 12_000 };
const WITHIN_MS = 15_000;

/** Listens where it did before, or on a port of its own for the first time (`port` 0). Answers the port. */
export async function listen(server: Server, port: number): Promise<number> {
  for (const end = performance.now() + WITHIN_MS; ;) {
    const at = port === 0 ? PORTS.first + Math.floor(Math.random() * PORTS.count) : port;
    const error = await new Promise<Error | null>((resolve) => {
      server.once('error', resolve).listen(at, '127.0.0.1', () => resolve(null));
    });
    if (error === null) return (server.address() as AddressInfo).port;
    if (performance.now() > end) throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
