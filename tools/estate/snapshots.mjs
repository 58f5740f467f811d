/**
 * States of an estate on one machine, kept and put back while it runs: databases, streams with their consumers, caught
 * mail. The one called `initial` is kept at the end of the first start; `npm run reset` goes back to it.
 *
 * Each state is a record `<data>/snapshots/<name>.json`, written when all of it is kept, and names what it consists of by
 * an id of its own. So a state that is saved again takes the place of the former one at once, and what a crash left
 * belongs to no record and is dropped.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseCopies } from './database-copies.mjs';
import { SERVICES } from './environment.mjs';
import { readRecord, writeRecord } from './processes.mjs';

export const INITIAL = 'initial';
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
/** What says which schema and which administrator the databases have (migrations.mjs). */
const STAMPS = ['migrated.json', 'bootstrapped.json'];

/** What a caller did wrong, in words for them. */
export class Refused extends Error {}

export class Snapshots {
  /** Shape: `estate` has `dataDir`, `mailDir`, `postgres`, `nats`, `cluster`, `atRest(use)` and `bringUpToDate()`. */
  constructor(estate) {
    this.estate = estate;
    this.folder = join(estate.dataDir, 'snapshots');
    this.journal = join(estate.dataDir, 'run/restoring.json');
  }

  /** Shape: `[{ name, savedAt }]` by name. */
  list() {
    return this.#records().map(({ name, savedAt }) => ({ name, savedAt }));
  }

  /** Whether databases and streams are all the estate's own. */
  get isPossible() {
    const { postgres, nats, databases } = this.estate;
    return Boolean(postgres && nats && SERVICES.every((service) => databases[service]));
  }

  get hasInitial() {
    return this.#record(INITIAL) !== null;
  }

  /** Keeps the present state under a name, in place of what had it. Errors: Refused. */
  async save(name) {
    refuseName(name);
    if (name === INITIAL && this.hasInitial) throw new Refused(`"${INITIAL}" is kept by the first start alone`);
    const copies = this.#copies();
    const id = randomBytes(4).toString('hex');
    await this.estate.atRest(async () => {
      const { dataDir, nats, mailDir, cluster } = this.estate;
      await nats.stop();
      try {
        const parts = join(this.folder, id);
        mkdirSync(parts, { recursive: true, mode: 0o700 });
        const stamps = Object.fromEntries(STAMPS.map((file) => [file, readRecord(join(dataDir, file))]));
        await copies.save(id);
        await copyFolder(this.#streams, join(parts, 'streams'));
        linkFiles(mailDir, join(parts, 'mail'));
        writeRecord(this.#file(name), { id, name, savedAt: new Date().toISOString(), cluster, stamps });
      } finally {
        await nats.start();
      }
    });
  }

  /** Puts a state back. Errors: Refused; what fails on the way leaves the estate at rest until a restore succeeds. */
  async restore(name) {
    const record = await this.#known(name);
    // What takes long comes first, while everybody still works.
    await this.#prepare(record);
    await this.estate.atRest(() => this.#putBack(record), { resumesAfterFailure: false });
  }

  /** A restore that was broken off is done before anything is served. Answers the name of its state, or null. */
  async mend() {
    const begun = readRecord(this.journal);
    if (!begun) return null;
    const record = this.#record(begun.name);
    if (record?.cluster !== this.estate.cluster) {
      rmSync(this.journal, { force: true });
      return null;
    }
    await this.#prepare(record);
    await this.#putBack(record);
    return record.name;
  }

  /** Errors: Refused. */
  async remove(name) {
    if (name === INITIAL) throw new Refused(`"${INITIAL}" is what npm run reset goes back to`);
    rmSync(this.#file((await this.#known(name)).name), { force: true });
  }

  /** Drops what nothing needs and prepares the next reset. Nobody waits for it. */
  async tidy() {
    const copies = this.#copies();
    const records = this.#records();
    const ids = records.map((record) => record.id);
    const spare = this.#record(INITIAL);
    for (const entry of existsSync(this.folder) ? readdirSync(this.folder) : [])
      if (/^([0-9a-f]{8}|gone-.*)$/.test(entry) && !ids.includes(entry))
        rmSync(join(this.folder, entry), { recursive: true, force: true });
    if (spare?.cluster === this.estate.cluster) await this.#prepare(spare);
    await copies.tidy(ids, spare?.id);
  }

  /** Copies of what is kept, to be taken into use; what is there already stays. */
  async #prepare(record) {
    const parts = join(this.folder, record.id);
    const next = join(parts, 'streams-next');
    if (!existsSync(next)) {
      await copyFolder(join(parts, 'streams'), `${next}.draft`);
      renameSync(`${next}.draft`, next);
    }
    await this.#copies().prepare(record.id);
  }

  /** Each step may be done again, so a crash at any moment is mended by doing all of them. */
  async #putBack(record) {
    const { dataDir, nats, mailDir } = this.estate;
    const parts = join(this.folder, record.id);
    writeRecord(this.journal, { name: record.name });
    await nats.stop();
    await this.#copies().swap(record.id);
    await this.#copies().adopt();
    if (existsSync(this.#streams))
      renameSync(this.#streams, join(this.folder, `gone-${randomBytes(4).toString('hex')}`));
    renameSync(join(parts, 'streams-next'), this.#streams);
    linkFiles(join(parts, 'mail'), mailDir);
    for (const [file, stamp] of Object.entries(record.stamps)) writeRecord(join(dataDir, file), stamp);
    await nats.start();
    await this.estate.bringUpToDate();
    rmSync(this.journal, { force: true });
  }

  get #streams() {
    return join(this.estate.dataDir, 'nats/store');
  }

  #copies() {
    if (!this.isPossible)
      throw new Refused('Only an estate whose PostgreSQL and NATS are all its own can be reset, saved and restored');
    return new DatabaseCopies(this.estate.postgres, SERVICES);
  }

  async #known(name) {
    refuseName(name);
    const record = this.#record(name);
    if (!record && name === INITIAL)
      throw new Refused(
        'This data folder has no first state to go back to; begin another: ROOKERY_DATA=/path npm start',
      );
    if (!record)
      throw new Refused(
        `There is no snapshot "${name}"; there are: ${this.list()
          .map((one) => one.name)
          .join(', ')}`,
      );
    if (record.cluster !== this.estate.cluster || !(await this.#copies().has(record.id)))
      throw new Refused(`The databases of "${name}" are gone`);
    return record;
  }

  #record(name) {
    return readRecord(this.#file(name));
  }

  #records() {
    if (!existsSync(this.folder)) return [];
    const names = readdirSync(this.folder).filter((file) => file.endsWith('.json'));
    return names
      .sort()
      .map((file) => readRecord(join(this.folder, file)))
      .filter(Boolean);
  }

  #file(name) {
    return join(this.folder, `${name}.json`);
  }
}

function refuseName(name) {
  if (!NAME.test(name ?? ''))
    throw new Refused(
      'A name has 1 to 63 small letters, digits, dots, dashes and underscores, and begins with a letter or digit',
    );
}

/** `to` is what `from` is afterwards, empty if there is none. */
async function copyFolder(from, to) {
  rmSync(to, { recursive: true, force: true });
  if (existsSync(from)) await cp(from, to, { recursive: true });
  else mkdirSync(to);
}

/** Mails are written once, under names of their own, so a second name for the same file is a copy. */
function linkFiles(from, to) {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(to)) rmSync(join(to, file), { recursive: true, force: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith('.eml')))
    linkSync(join(from, file), join(to, file));
}
