/**
 * Copies of the services' databases inside the embedded PostgreSQL, and the replacement of the live databases by copies.
 *
 *   rookery_<service>              live database that the service uses
 *   rookery_s_<id>_<service>       part of the snapshot with that id; no client connects to it
 *   rookery_next_<id>_<service>    copy of it that will become the live database
 *   rookery_gone_<word>_<service>  former live database
 *
 * @typedef {(text: string, values?: unknown[]) => Promise<any[]>} RunStatement
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { databaseRights, giveTablesToOwner, databaseNameOf } from '../servers/databases.mjs';

const COPIES = /^rookery_(s|next|gone)_([0-9a-f]+)_[a-z]+$/;

export class DatabaseCopies {
  /**
   * @param {{ url(database?: string): string }} server  the running PostgreSQL
   * @param {string[]} services
   */
  constructor(server, services) {
    this.server = server;
    this.services = services;
  }

  /**
   * Copies the live databases to a snapshot. Open connections to them are terminated.
   * @param {string} id
   */
  async save(id) {
    await this.#withConnection((ask) => this.#endConnections(ask));
    await this.#useEachService((ask, service) =>
      copyDatabase(ask, databaseNameOf(service), `rookery_s_${id}_${service}`),
    );
  }

  /**
   * Creates the copies that `swap` needs, unless they exist. Takes long, and can run while the services work.
   * @param {string} id
   */
  async prepare(id) {
    const known = await this.#withConnection(databaseNames);
    await this.#useEachService(async (ask, service) => {
      const name = `rookery_next_${id}_${service}`;
      if (!known.has(name)) await copyDatabase(ask, `rookery_s_${id}_${service}`, name);
    });
  }

  /**
   * Whether all databases of a snapshot exist.
   * @param {string} id
   */
  async has(id) {
    const known = await this.#withConnection(databaseNames);
    return this.services.every((service) => known.has(`rookery_s_${id}_${service}`));
  }

  /**
   * Makes the prepared copies the live databases, in one transaction.
   * @param {string} id
   */
  async swap(id) {
    const word = randomBytes(4).toString('hex');
    await this.#withConnection(async (ask) => {
      await this.#endConnections(ask);
      await ask('BEGIN');
      for (const service of this.services) {
        const live = databaseNameOf(service);
        await ask(`ALTER DATABASE ${live} RENAME TO rookery_gone_${word}_${service}`);
        await ask(`ALTER DATABASE rookery_next_${id}_${service} RENAME TO ${live}`);
        for (const statement of databaseRights(service)) await ask(statement);
      }
      await ask('COMMIT');
    });
    await this.#useEachService((_, service) => giveTablesToOwner(this.server, service));
  }

  /**
   * Resets the history ids, so that no service takes its database for one that was restored alone
   * (docs/reference/reliability.md 4.5): all databases are in the state of the same snapshot.
   */
  async resetHistories() {
    await this.#useEachService(async (_, service) => {
      await this.#withConnection(
        (ask) =>
          ask(`DO $$ BEGIN
            IF to_regclass('database_history') IS NOT NULL THEN UPDATE database_history SET history = ''; END IF;
            IF to_regclass('directory_head') IS NOT NULL THEN UPDATE directory_head SET history = ''; END IF;
          EXCEPTION WHEN undefined_column THEN NULL; END $$`),
        databaseNameOf(service),
      );
    });
  }

  /**
   * Drops databases that belong to no snapshot: former live ones, and remains of a crash. The prepared copies of the
   * snapshot `spareId` stay.
   * @param {string[]} ids
   * @param {string | undefined} spareId
   */
  async tidy(ids, spareId) {
    const known = await this.#withConnection(databaseNames);
    const needless = [...known].filter((name) => {
      const [, kind, id = ''] = COPIES.exec(name) ?? [];
      const isKept = (kind === 's' && ids.includes(id)) || (kind === 'next' && id === spareId);
      return kind !== undefined && !isKept;
    });
    // Each DROP waits for a checkpoint; in parallel they wait for the same one.
    await Promise.all(
      needless.map((name) => this.#withConnection((ask) => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
    );
  }

  /** @param {RunStatement} ask */
  async #endConnections(ask) {
    await ask(
      `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = ANY($1) AND pid <> pg_backend_pid()`,
      [this.services.map(databaseNameOf)],
    );
  }

  /** @param {(ask: RunStatement, service: string) => Promise<void>} use */
  async #useEachService(use) {
    const outcomes = await Promise.allSettled(
      this.services.map((service) => this.#withConnection((ask) => use(ask, service))),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /**
   * @template T
   * @param {(ask: RunStatement) => Promise<T>} use
   * @param {string} [database]
   * @returns {Promise<T>}
   */
  async #withConnection(use, database) {
    const client = new pg.Client({ connectionString: this.server.url(database) });
    // If the server ends, the running statement fails with an error of its own.
    client.on('error', () => {});
    await client.connect();
    try {
      return await use(async (text, values) => (await client.query(text, values)).rows);
    } finally {
      await client.end();
    }
  }
}

/**
 * @param {RunStatement} ask
 * @param {string} from
 * @param {string} to
 */
async function copyDatabase(ask, from, to) {
  await ask(`CREATE DATABASE ${to} TEMPLATE ${from} STRATEGY WAL_LOG`);
  await ask(`REVOKE ALL ON DATABASE ${to} FROM PUBLIC`);
}

/**
 * @param {RunStatement} ask
 * @returns {Promise<Set<string>>}
 */
async function databaseNames(ask) {
  return new Set((await ask('SELECT datname AS name FROM pg_database')).map((row) => row.name));
}
