/** One service's database as it was a while ago, and its return: what an operator does with a dump. */
import pg from 'pg';
import { nameOf } from '../../estate/databases.mjs';

export class Dump {
  constructor(estate, service) {
    Object.assign(this, { estate, service });
    this.live = nameOf(service);
    this.kept = `dump_${this.live}`;
  }

  /** While everybody works; those who are connected lose their connections. */
  async take() {
    await this.#use(async (ask) => {
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS false`);
      await this.#endConnections(ask);
      await ask(`CREATE DATABASE ${this.kept} TEMPLATE ${this.live} STRATEGY WAL_LOG`);
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS true`);
    });
  }

  /** What was written since is gone, though it can still be looked at as `lost_…`. */
  async putBack() {
    await this.#use(async (ask) => {
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS false`);
      await this.#endConnections(ask);
      await ask(`ALTER DATABASE ${this.live} RENAME TO lost_${this.live}`);
      await ask(`ALTER DATABASE ${this.kept} RENAME TO ${this.live}`);
      await ask(`ALTER DATABASE ${this.live} OWNER TO ${this.live}`);
    });
  }

  #endConnections(ask) {
    return ask('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [this.live]);
  }

  async #use(use) {
    const client = new pg.Client({ connectionString: this.estate.postgres.url() });
    client.on('error', () => {});
    await client.connect();
    try {
      await use((text, values) => client.query(text, values));
    } finally {
      await client.end();
    }
  }
}
