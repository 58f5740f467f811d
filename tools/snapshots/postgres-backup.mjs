/**
 * Copy of the embedded PostgreSQL with all databases while it works, by its low-level backup functions: files may change
 * while they are copied, and the write-ahead log from the start to the end of the backup makes them consistent. All
 * databases are restored to the moment of `end`. Source: ADR 0210.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { copyFiles, treeOf } from './checked-copies.mjs';

/** Folders whose content belongs to the running server; they are copied empty. */
const EMPTY = /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const LEFT_OUT = /^postmaster\.(?:pid|opts)$|(?:^|\/)(?:pgsql_tmp[^/]*|pg_internal\.init)$|^current_logfiles$/;

export class PostgresBackup {
  /** First and last file of the log. */
  #first = '';
  #last = '';

  /**
   * @param {import('../servers/postgres.mjs').PostgresServer} server
   * @param {string} folder  for the copy
   */
  constructor(server, folder) {
    this.server = server;
    this.folder = folder;
    this.client = new pg.Client({ connectionString: server.url() });
    this.client.on('error', () => {});
  }

  /** Begins the backup. A temporary replication slot keeps the log until the connection closes. */
  async begin() {
    await this.client.connect();
    await this.client.query(`select pg_create_physical_replication_slot('rookery_backup', true, true)`);
    const { rows } = await this.client.query(`select pg_walfile_name(pg_backup_start('rookery', true)) as name`);
    this.#first = rows[0].name;
  }

  /** Files and folders to copy. */
  tree() {
    return treeOf(this.server.place.data, (path) => !EMPTY.test(path) && !LEFT_OUT.test(path));
  }

  /** Ends the backup: the restored databases have the state of this moment. The log is copied later. */
  async end() {
    const { rows } = await this.client.query(
      `select pg_walfile_name(lsn) as name, labelfile from pg_backup_stop(false)`,
    );
    this.#last = rows[0].name;
    writeFileSync(join(this.folder, 'backup_label'), rows[0].labelfile, { mode: 0o600 });
  }

  /**
   * Copies the log from the start to the end of the backup. Returns the digests of its files.
   * @param {import('./checked-copies.mjs').Count} count
   */
  copyLog(count) {
    const log = join(this.server.place.data, 'pg_wal');
    const segments = readdirSync(log).filter((name) => /^[0-9A-F]{24}$/.test(name));
    const wanted = segments.filter((name) => name >= this.#first && name <= this.#last);
    if (!wanted.includes(this.#last)) throw new Error(`PostgreSQL lost ${this.#last} of its log during the backup`);
    return copyFiles(
      wanted.map((name) => ({ from: join(log, name), to: join(this.folder, 'pg_wal', name) })),
      count,
    );
  }

  async close() {
    await this.client.end().catch(() => {});
  }
}
