import { createServer } from 'node:net';

/** Below the ports that systems use for outgoing connections. */
const PORTS = { first: 20_000, count: 12_000 };
const WITHIN_MS = 15_000;

/**
 * Returns a free port of 127.0.0.1 for a server that stops and starts again: the system uses it for no connection
 * meanwhile, so that no client of the server connects to itself.
 */
export async function unusedPort(): Promise<number> {
  for (const end = Date.now() + WITHIN_MS; ;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isPortFree(port)) return port;
    if (Date.now() > end) throw new Error('No port is free');
  }
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
