import { Client } from 'pg';
import type { ClientConfig } from 'pg';

/** Longest time to open a connection; how long somebody waits for one that is open is another matter. Units: ms. */
const CONNECT_MS = 10_000;

/**
 * A connection whose loss never ends the process. Between being handed out, used and given back there are moments in
 * which neither the pool nor TypeORM listens, and an `error` event that nobody hears is thrown. Whoever runs a
 * statement still gets its failure.
 */
export class SteadyClient extends Client {
  constructor(config: ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
    this.on('error', () => undefined);
  }
}
