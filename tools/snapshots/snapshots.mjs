/**
 * Saves and restores states of an estate on one machine while it runs: databases, streams with their consumers,
 * repositories, files of packages, and caught e-mails. The state called `initial` is saved at the end of the first
 * start; `npm run reset` restores it.
 *
 * Each state has a record `<data>/snapshots/<name>.json`, which is written last and contains the id of the state's parts.
 * So a state that is saved again replaces the former one atomically, and remains of a crash belong to no record and are
 * deleted.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {Pick<Estate, 'dataDir' | 'mailDir' | 'databases' | 'cluster' | 'atRest' | 'bringUpToDate'> & {
 *   postgres: { url(database?: string): string } | null,
 *   nats: { stop(): Promise<void>, start(): Promise<void> } | null }} SnapshotEstate
 * @typedef {{ id: string, name: string, savedAt: string, cluster: string, stamps: Record<string, unknown> }} SnapshotRecord
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseCopies } from './database-copies.mjs';
import { SERVICES } from '../processes/environment.mjs';
import { readRecord, writeRecord } from '../processes/process-records.mjs';

export const INITIAL = 'initial';
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
/** Files that record the schema and the administrator of the databases (migrations.mjs). */
const STAMPS = ['migrated.json', 'bootstrapped.json'];

/**
 * Folders of a data folder that belong to a state, by the names of their copies. Git and the blob store never change a file in
 * place, so hard links serve as copies.
 */
const FOLDERS = [
  { part: 'streams', place: 'nats/store', copy: copyFolder },
  { part: 'repositories', place: 'repositories', copy: linkFolder },
  { part: 'blobs', place: 'blobs', copy: linkFolder },
];

/** Refusal of a command, with a message for the user. */
export class CommandRefused extends Error {}

export class Snapshots {
  /** @param {SnapshotEstate} estate */
  constructor(estate) {
    this.estate = estate;
    this.folder = join(estate.dataDir, 'snapshots');
    this.journal = join(estate.dataDir, 'run/restoring.json');
  }

  /** Returns `{ name, savedAt }` of each snapshot, sorted by name. */
  list() {
    return this.#readAllSnapshots().map(({ name, savedAt }) => ({ name, savedAt }));
  }

  /** Whether all databases and streams are embedded. */
  get isPossible() {
    const { postgres, nats, databases } = this.estate;
    return Boolean(postgres && nats && SERVICES.every((service) => databases[service]));
  }

  get hasInitial() {
    return this.#readSnapshot(INITIAL) !== null;
  }

  /**
   * Saves the current state under a name, and replaces a former state with that name. Errors: Refused.
   * @param {string} name
   */
  async save(name) {
    checkSnapshotName(name);
    if (name === INITIAL && this.hasInitial) throw new CommandRefused(`"${INITIAL}" is saved by the first start only`);
    const nats = this.#embeddedNats();
    const copies = this.#databaseCopies();
    const id = randomBytes(4).toString('hex');
    await this.estate.atRest(async () => {
      const { dataDir, mailDir, cluster } = this.estate;
      await nats.stop();
      try {
        const parts = join(this.folder, id);
        mkdirSync(parts, { recursive: true, mode: 0o700 });
        const stamps = Object.fromEntries(STAMPS.map((file) => [file, readRecord(join(dataDir, file))]));
        await copies.save(id);
        for (const { part, place, copy } of FOLDERS) await copy(join(dataDir, place), join(parts, part));
        linkMailFiles(mailDir, join(parts, 'mail'));
        writeRecord(this.#recordFileOf(name), { id, name, savedAt: new Date().toISOString(), cluster, stamps });
      } finally {
        await nats.start();
      }
    });
  }

  /**
   * Restores a state. Errors: Refused. After any other error the estate stays paused until a restore succeeds.
   * @param {string} name
   */
  async restore(name) {
    const record = await this.#requireRecord(name);
    // The slow part comes first, while the processes still work.
    await this.#prepareCopies(record);
    await this.estate.atRest(() => this.#usePreparedCopies(record), { resumesAfterFailure: false });
  }

  /** Finishes an interrupted restore before the processes start. Resolves to the name of its state, or null. */
  async finishInterrupted() {
    const begun = readRecord(this.journal);
    if (!begun) return null;
    const record = this.#readSnapshot(begun.name);
    if (!record || record.cluster !== this.estate.cluster) {
      rmSync(this.journal, { force: true });
      return null;
    }
    await this.#prepareCopies(record);
    await this.#usePreparedCopies(record);
    return record.name;
  }

  /**
   * Deletes a state. Errors: Refused.
   * @param {string} name
   */
  async remove(name) {
    if (name === INITIAL) throw new CommandRefused(`"${INITIAL}" is needed by npm run reset`);
    rmSync(this.#recordFileOf((await this.#requireRecord(name)).name), { force: true });
  }

  /** Deletes unused parts and prepares the next reset, in the background. */
  async tidy() {
    const copies = this.#databaseCopies();
    const records = this.#readAllSnapshots();
    const ids = records.map((record) => record.id);
    const spare = this.#readSnapshot(INITIAL);
    for (const entry of existsSync(this.folder) ? readdirSync(this.folder) : [])
      if (/^([0-9a-f]{8}|gone-.*)$/.test(entry) && !ids.includes(entry))
        rmSync(join(this.folder, entry), { recursive: true, force: true });
    if (spare?.cluster === this.estate.cluster) await this.#prepareCopies(spare);
    await copies.tidy(ids, spare?.id);
  }

  /**
   * Copies the parts of a state, so that the copies can be put in use. Existing copies stay.
   * @param {SnapshotRecord} record
   */
  async #prepareCopies(record) {
    const parts = join(this.folder, record.id);
    for (const { part, copy } of savedSnapshotFoldersIn(parts)) {
      const next = join(parts, `${part}-next`);
      if (existsSync(next)) continue;
      await copy(join(parts, part), `${next}.draft`);
      renameSync(`${next}.draft`, next);
    }
    await this.#databaseCopies().prepare(record.id);
  }

  /**
   * Puts the prepared copies in use. Each step can be repeated, so after a crash all of them are done again.
   * @param {SnapshotRecord} record
   */
  async #usePreparedCopies(record) {
    const { dataDir, mailDir } = this.estate;
    const nats = this.#embeddedNats();
    const parts = join(this.folder, record.id);
    writeRecord(this.journal, { name: record.name });
    await nats.stop();
    await this.#databaseCopies().swap(record.id);
    await this.#databaseCopies().resetHistories();
    for (const { part, place } of savedSnapshotFoldersIn(parts)) {
      const used = join(dataDir, place);
      if (existsSync(used)) renameSync(used, join(this.folder, `gone-${randomBytes(4).toString('hex')}`));
      mkdirSync(dirname(used), { recursive: true });
      renameSync(join(parts, `${part}-next`), used);
    }
    linkMailFiles(join(parts, 'mail'), mailDir);
    for (const [file, stamp] of Object.entries(record.stamps)) writeRecord(join(dataDir, file), stamp);
    await nats.start();
    await this.estate.bringUpToDate();
    rmSync(this.journal, { force: true });
  }

  #databaseCopies() {
    return new DatabaseCopies(this.#requireEmbedded().postgres, SERVICES);
  }

  #embeddedNats() {
    return this.#requireEmbedded().nats;
  }

  #requireEmbedded() {
    const { postgres, nats } = this.estate;
    if (!this.isPossible || !postgres || !nats)
      throw new CommandRefused('Only an estate with embedded PostgreSQL and NATS can be reset, saved and restored');
    return { postgres, nats };
  }

  /** @param {string} name */
  async #requireRecord(name) {
    checkSnapshotName(name);
    const record = this.#readSnapshot(name);
    if (!record && name === INITIAL)
      throw new CommandRefused(
        'This data folder has no initial state; start an estate on another one: ROOKERY_DATA=/path npm start',
      );
    if (!record)
      throw new CommandRefused(
        `There is no snapshot "${name}"; there are: ${this.list()
          .map((one) => one.name)
          .join(', ')}`,
      );
    if (record.cluster !== this.estate.cluster || !(await this.#databaseCopies().has(record.id)))
      throw new CommandRefused(`The databases of "${name}" are gone`);
    return record;
  }

  /**
   * @param {string} name
   * @returns {SnapshotRecord | null}
   */
  #readSnapshot(name) {
    return readRecord(this.#recordFileOf(name));
  }

  /** @returns {SnapshotRecord[]} */
  #readAllSnapshots() {
    if (!existsSync(this.folder)) return [];
    const names = readdirSync(this.folder).filter((file) => file.endsWith('.json'));
    return names
      .sort()
      .map((file) => readRecord(join(this.folder, file)))
      .filter(Boolean);
  }

  /** @param {string} name */
  #recordFileOf(name) {
    return join(this.folder, `${name}.json`);
  }
}

/** @param {string | undefined} name */
function checkSnapshotName(name) {
  if (!NAME.test(name ?? ''))
    throw new CommandRefused(
      'A name has 1 to 63 small letters, digits, dots, dashes and underscores, and begins with a letter or digit',
    );
}

/**
 * Makes `to` a copy of `from`; `to` is empty if `from` does not exist.
 * @param {string} from
 * @param {string} to
 */
export async function copyFolder(from, to) {
  rmSync(to, { recursive: true, force: true });
  if (existsSync(from)) await cp(from, to, { recursive: true });
  else mkdirSync(to);
}

/**
 * The folders of a state. States that were saved by an earlier version have fewer.
 * @param {string} parts
 */
function savedSnapshotFoldersIn(parts) {
  return FOLDERS.filter(({ part }) => existsSync(join(parts, part)));
}

/**
 * Makes `to` a folder with hard links to all files of `from`; `to` is empty if `from` does not exist.
 * @param {string} from
 * @param {string} to
 */
export function linkFolder(from, to) {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of existsSync(from) ? readdirSync(from) : []) {
    const file = join(from, name);
    if (lstatSync(file).isDirectory()) linkFolder(file, join(to, name));
    else linkSync(file, join(to, name));
  }
}

/**
 * Links the e-mails of a folder into another one. E-mail files never change, so a hard link serves as a copy.
 * @param {string} from
 * @param {string} to
 */
export function linkMailFiles(from, to) {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(to)) rmSync(join(to, file), { recursive: true, force: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith('.eml')))
    linkSync(join(from, file), join(to, file));
}
