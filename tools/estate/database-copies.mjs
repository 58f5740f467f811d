/**
 * Copies of the services' databases inside the embedded PostgreSQL, and the exchange of the live ones for such a copy.
 *
 *   rookery_<service>              live: what the service works on
 *   rookery_s_<id>_<service>       belongs to the snapshot of that id; nobody connects
 *   rookery_next_<id>_<service>    made from it, to become the live one
 *   rookery_gone_<word>_<service>  was live
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { nameOf } from './databases.mjs';

const COPIES = /^rookery_(s|next|gone)_([0-9a-f]+)_[a-z]+$/;

export class DatabaseCopies {
  /** Shape: `server` is the running PostgreSQL. */
  constructor(server, services) {
    Object.assign(this, { server, services });
  }

  /** Keeps the live databases under an id. Nobody else is connected to them, or loses the connection. */
  async save(id) {
    await this.#use((ask) => this.#endConnections(ask));
    await this.#each((ask, service) => copy(ask, nameOf(service), `rookery_s_${id}_${service}`));
  }

  /** Makes what `swap` needs, as far as it is not there yet; takes time, and may go on beside everything. */
  async prepare(id) {
    const known = await this.#use(names);
    await this.#each(async (ask, service) => {
      const name = `rookery_next_${id}_${service}`;
      if (!known.has(name)) await copy(ask, `rookery_s_${id}_${service}`, name);
    });
  }

  /** Whether the copies of a snapshot are there. */
  async has(id) {
    const known = await this.#use(names);
    return this.services.every((service) => known.has(`rookery_s_${id}_${service}`));
  }

  /** What was prepared is live from now on: all of it or nothing, whatever happens meanwhile. */
  async swap(id) {
    const word = randomBytes(4).toString('hex');
    await this.#use(async (ask) => {
      await this.#endConnections(ask);
      await ask('BEGIN');
      for (const service of this.services) {
        const live = nameOf(service);
        await ask(`ALTER DATABASE ${live} RENAME TO rookery_gone_${word}_${service}`);
        await ask(`ALTER DATABASE rookery_next_${id}_${service} RENAME TO ${live}`);
        await ask(`ALTER DATABASE ${live} OWNER TO ${live}`);
      }
      await ask('COMMIT');
    });
  }

  /**
   * What is live now is where it was when it was kept, and all of it is: nobody has seen more, so no service takes its
   * database for one that was restored (docs/reference/reliability.md 4.5).
   */
  async adopt() {
    await this.#each(async (_, service) => {
      await this.#use(
        (ask) =>
          ask(`DO $$ BEGIN
            IF to_regclass('database_history') IS NOT NULL THEN UPDATE database_history SET history = ''; END IF;
            IF to_regclass('directory_head') IS NOT NULL THEN UPDATE directory_head SET history = ''; END IF;
          EXCEPTION WHEN undefined_column THEN NULL; END $$`),
        nameOf(service),
      );
    });
  }

  /** Drops what belongs to no snapshot: what was live, and what a crash left. Shape: of `spareId`, the prepared stay. */
  async tidy(ids, spareId) {
    const known = await this.#use(names);
    const isKept = ([, kind, id]) => (kind === 's' && ids.includes(id)) || (kind === 'next' && id === spareId);
    const needless = [...known].filter((name) => COPIES.test(name) && !isKept(COPIES.exec(name)));
    // Each waits for a checkpoint; side by side they wait for the same one.
    await Promise.all(needless.map((name) => this.#use((ask) => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))));
  }

  async #endConnections(ask) {
    await ask(
      `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = ANY($1) AND pid <> pg_backend_pid()`,
      [this.services.map(nameOf)],
    );
  }

  async #each(use) {
    const outcomes = await Promise.allSettled(this.services.map((service) => this.#use((ask) => use(ask, service))));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #use(use, database) {
    const client = new pg.Client({ connectionString: this.server.url(database) });
    // A server that goes away ends the statement under way with an error of its own.
    client.on('error', () => {});
    await client.connect();
    try {
      return await use(async (text, values) => (await client.query(text, values)).rows);
    } finally {
      await client.end();
    }
  }
}

async function copy(ask, from, to) {
  await ask(`CREATE DATABASE ${to} TEMPLATE ${from} STRATEGY WAL_LOG`);
  await ask(`REVOKE ALL ON DATABASE ${to} FROM PUBLIC`);
}

async function names(ask) {
  return new Set((await ask('SELECT datname AS name FROM pg_database')).map((row) => row.name));
}
