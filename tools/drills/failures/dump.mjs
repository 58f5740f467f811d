/**
 * Saves the database of one service and restores it later, as an operator does with a dump.
 *
 * @import { Estate } from '../../processes/estate.mjs'
 * @typedef {(text: string, values?: unknown[]) => Promise<unknown>} RunStatement
 */
import pg from 'pg';
import { databaseRights, databaseNameOf } from '../../servers/databases.mjs';

export class DatabaseDump {
  /**
   * @param {Estate} estate
   * @param {string} service
   */
  constructor(estate, service) {
    this.estate = estate;
    this.service = service;
    this.live = databaseNameOf(service);
    this.kept = `dump_${this.live}`;
  }

  /** Copies the database while the service works. Open connections are terminated. */
  async take() {
    await this.#withConnection(async (ask) => {
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS false`);
      await this.#endConnections(ask);
      await ask(`CREATE DATABASE ${this.kept} TEMPLATE ${this.live} STRATEGY WAL_LOG`);
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS true`);
    });
  }

  /** Restores the copy. The replaced database remains readable as `lost_…`. */
  async putBack() {
    await this.#withConnection(async (ask) => {
      await ask(`ALTER DATABASE ${this.live} WITH ALLOW_CONNECTIONS false`);
      await this.#endConnections(ask);
      await ask(`ALTER DATABASE ${this.live} RENAME TO lost_${this.live}`);
      await ask(`ALTER DATABASE ${this.kept} RENAME TO ${this.live}`);
      for (const statement of databaseRights(this.service)) await ask(statement);
    });
  }

  /** @param {RunStatement} ask */
  #endConnections(ask) {
    return ask('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [this.live]);
  }

  /** @param {(ask: RunStatement) => Promise<void>} use */
  async #withConnection(use) {
    const client = new pg.Client({ connectionString: this.estate.postgres?.url() });
    client.on('error', () => {});
    await client.connect();
    try {
      await use((text, values) => client.query(text, values));
    } finally {
      await client.end();
    }
  }
}
