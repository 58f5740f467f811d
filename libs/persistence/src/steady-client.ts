import { Client } from 'pg';

/**
 * A connection whose loss never ends the process. Between being handed out, used and given back there are moments in
 * which neither the pool nor TypeORM listens, and an `error` event that nobody hears is thrown. Whoever runs a
 * statement still gets its failure.
 */
export class SteadyClient extends Client {
  constructor(...config: ConstructorParameters<typeof Client>) {
    super(...config);
    this.on('error', () => undefined);
  }
}
