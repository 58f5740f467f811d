/**
 * Saving and restoring states, at the level of databases, streams and files, with crashes in between.
 *
 * @typedef {import('../snapshots.mjs').SnapshotEstate & import('../../processes/local-control.mjs').CommandedEstate &
 *   { log: string[] }} LoggingEstate
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { ensureDatabases } from '../../servers/databases.mjs';
import { SERVICES } from '../../processes/environment.mjs';
import { commandEstate, startLocalControl } from '../../processes/local-control.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { startPostgres } from '../../servers/postgres.mjs';
import { readRecord, until, writeRecord } from '../../processes/process-records.mjs';
import { readSecrets } from '../../processes/secrets.mjs';
import { Snapshots } from '../snapshots.mjs';

const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-states-'));
const mailDir = join(dataDir, 'mail');
const streams = join(dataDir, 'nats/store');
const repository = join(dataDir, 'repositories/@hashed/a.git');
const blobs = join(dataDir, 'blobs');
const secrets = readSecrets(dataDir);
/** @type {import('../../servers/postgres.mjs').PostgresServer} */
let postgres;
/** @type {Record<string, string>} */
let databases;
/** @type {Record<string, string>} */
let owners;

before(async () => {
  postgres = await startPostgres({ folder: dataDir, password: secrets.postgres });
  ({ databases, owners } = await ensureDatabases(postgres, secrets));
  for (const service of SERVICES) await queryService(service, 'CREATE TABLE facts (fact text)');
  mkdirSync(mailDir);
  mkdirSync(streams, { recursive: true });
});
after(async () => {
  await postgres.stop();
  discardPostgres(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

/**
 * Sends a statement to a database, as the owner of its tables.
 * @param {string} service
 * @param {string} text
 */
async function queryService(service, text, addresses = owners) {
  const client = new pg.Client({ connectionString: addresses[service] });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Writes a fact to every part of the estate.
 * @param {string} fact
 */
async function writeFact(fact) {
  for (const service of SERVICES) await queryService(service, `TRUNCATE facts; INSERT INTO facts VALUES ('${fact}')`);
  writeFileSync(join(streams, 'messages'), fact);
  replaceWith(repository, fact);
  replaceWith(blobs, fact);
  for (const file of readdirSync(mailDir)) rmSync(join(mailDir, file));
  writeFileSync(join(mailDir, `${fact}.eml`), fact);
  writeRecord(join(dataDir, 'migrated.json'), { fact });
}

/**
 * Replaces a folder, as git and the blob store replace files and never change them in place.
 * @param {string} folder
 * @param {string} fact
 */
function replaceWith(folder, fact) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fact), fact);
}

async function readFacts() {
  const rows = await Promise.all(SERVICES.map((service) => queryService(service, 'SELECT fact FROM facts')));
  const facts = rows.map(([row]) => row.fact);
  const mails = readdirSync(mailDir);
  const stamp = readRecord(join(dataDir, 'migrated.json'));
  return [
    ...new Set([
      ...facts,
      readFileSync(join(streams, 'messages'), 'utf8'),
      ...readdirSync(repository),
      ...readdirSync(blobs),
      stamp.fact,
      ...mails.map((file) => file.replace('.eml', '')),
    ]),
  ];
}

/**
 * An estate on the real database server, with other parts that log their steps. The step `fails` throws.
 * @param {{ fails?: string | null, cluster?: string }} [options]
 * @returns {LoggingEstate}
 */
function estateOf({ fails = null, cluster = postgres.identity } = {}) {
  /** @type {string[]} */
  const log = [];
  /** @param {string} name */
  const step = (name) => async () => {
    log.push(name);
    if (name === fails) throw new Error(`${name} failed`);
  };
  const estate = {
    dataDir,
    mailDir,
    env: {},
    postgres,
    databases,
    isResettable: true,
    cluster,
    log,
    snapshots: /** @type {any} */ (null),
    stopService: step('service stops'),
    startService: step('service starts'),
    nats: { stop: step('bus stops'), start: step('bus starts') },
    bringUpToDate: step('up to date'),
    /** @type {import('../../processes/estate.mjs').Estate['atRest']} */
    async atRest(use, { resumesAfterFailure = true } = {}) {
      log.push('rest');
      try {
        await use();
      } catch (error) {
        if (resumesAfterFailure) log.push('resume');
        throw error;
      }
      log.push('resume');
    },
  };
  estate.snapshots = new Snapshots(estate);
  return estate;
}

async function listDatabaseCopies() {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  const { rows } = await client.query(`SELECT datname FROM pg_database WHERE datname ~ '_(s|next|gone)_' ORDER BY 1`);
  await client.end();
  return rows.map((row) => row.datname);
}

describe('a state', () => {
  /** @type {LoggingEstate} */
  let estate;
  beforeEach(() => (estate = estateOf()));

  it('can be restored completely any number of times', async () => {
    await writeFact('early');
    await estate.snapshots.save('initial');
    for (const fact of ['late', 'later']) {
      await writeFact(fact);
      await estate.snapshots.restore('initial');
      assert.deepEqual(await readFacts(), ['early']);
      await estate.snapshots.tidy();
    }
    assert.deepEqual(estate.log.slice(-5), ['rest', 'bus stops', 'bus starts', 'up to date', 'resume']);
  });

  it('admits only the roles of its service to a live database, and no role to a saved one', async () => {
    await estate.snapshots.restore('initial');
    const whoami = 'SELECT current_user AS role';
    assert.deepEqual(await queryService('admin', whoami, databases), [{ role: 'rookery_admin' }]);
    assert.deepEqual(await queryService('admin', whoami), [{ role: 'rookery_admin_owner' }]);
    const foreign = databases.admin?.replace(/rookery_admin(?=\?)/, 'rookery_identity');
    /** @param {string | undefined} connectionString */
    const query = async (connectionString) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.end();
    };
    await assert.rejects(query(foreign), /permission denied/);
    const saved = (await listDatabaseCopies()).find((name) => name.startsWith('rookery_s_')) ?? '';
    await assert.rejects(query(databases.admin?.replace(/rookery_admin(?=\?)/, saved)), /permission denied/);
  });

  it('of an earlier version, in which services own their tables, gives them to the owner when it is restored', async () => {
    const live = new pg.Client({ connectionString: postgres.url('rookery_admin') });
    await live.connect();
    await live.query('ALTER TABLE facts OWNER TO rookery_admin');
    await live.end();
    await estate.snapshots.save('older');
    await estate.snapshots.restore('older');
    await assert.rejects(queryService('admin', 'DROP TABLE facts', databases), /must be owner of table facts/);
    await writeFact('owned');
    await estate.snapshots.remove('older');
  });

  it('terminates open connections to the databases', async () => {
    const client = new pg.Client({ connectionString: databases.package });
    /** @type {Promise<Error>} */
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await estate.snapshots.restore('initial');
    assert.match((await ended).message, /terminating connection|terminated unexpectedly/);
  });

  it('replaces a state with the same name, and leaves no remains when it is deleted', async () => {
    await writeFact('one');
    await estate.snapshots.save('mine');
    await writeFact('two');
    await estate.snapshots.save('mine');
    await writeFact('three');
    await estate.snapshots.restore('mine');
    assert.deepEqual(await readFacts(), ['two']);
    assert.deepEqual(
      estate.snapshots.list().map((one) => one.name),
      ['initial', 'mine'],
    );
    await estate.snapshots.remove('mine');
    await estate.snapshots.tidy();
    // Those of the initial state, saved and prepared.
    assert.equal((await listDatabaseCopies()).length, 2 * SERVICES.length);
    assert.equal(readdirSync(estate.snapshots.folder).length, 2);
  });

  it('is refused with invalid, reserved or unknown names', async () => {
    for (const name of ['', undefined, '../x', 'A', 'a/b', 'x'.repeat(64)])
      await assert.rejects(estate.snapshots.save(/** @type {string} */ (name)), /1 to 63 small letters/);
    await assert.rejects(estate.snapshots.save('initial'), /by the first start only/);
    await assert.rejects(estate.snapshots.restore('nothing'), /no snapshot "nothing"; there are: initial/);
    await assert.rejects(estate.snapshots.remove('initial'), /is needed by npm run reset/);
    assert.deepEqual(estate.log, []);
  });

  it('is refused with a server that is not embedded, and in another cluster', async () => {
    const foreign = estateOf();
    foreign.nats = null;
    await assert.rejects(foreign.snapshots.save('mine'), /with embedded PostgreSQL and NATS/);
    await assert.rejects(estateOf({ cluster: 'other' }).snapshots.restore('initial'), /are gone/);
  });

  it('is not saved in part when a save fails, and the estate resumes', async () => {
    const failing = estateOf({ fails: 'bus stops' });
    await assert.rejects(failing.snapshots.save('mine'), /bus stops failed/);
    assert.equal(failing.log.at(-1), 'resume');
    assert.deepEqual(
      failing.snapshots.list().map((one) => one.name),
      ['initial'],
    );
  });

  for (const fails of ['bus stops', 'bus starts', 'up to date']) {
    it(`is restored by the next start or the next attempt after an interruption at "${fails}"`, async () => {
      await writeFact('late');
      const failing = estateOf({ fails });
      await assert.rejects(failing.snapshots.restore('initial'), new RegExp(`${fails} failed`));
      // No client is served while the data may be a mixture of two states.
      assert.equal(failing.log.includes('resume'), false);
      assert.equal(await estate.snapshots.finishInterrupted(), 'initial');
      assert.deepEqual(await readFacts(), ['early']);
      assert.equal(await estate.snapshots.finishInterrupted(), null);
      assert.equal(existsSync(estate.snapshots.journal), false);
    });
  }
});

describe('the connection to a running estate', () => {
  it('is open to users who can read the data folder, while the estate runs', async () => {
    const estate = estateOf();
    await assert.rejects(commandEstate(dataDir, 'reset'), /No estate runs on/);
    const control = await startLocalControl(estate);
    await writeFact('late');
    /** Waits for `begin()`. */
    const early = commandEstate(dataDir, 'reset');
    await until(() => false, 50);
    assert.deepEqual(estate.log, []);
    control.begin();
    assert.ok((await early).ms >= 0);
    assert.deepEqual(await readFacts(), ['early']);
    await assert.rejects(commandEstate(dataDir, 'restore', 'no/such'), /1 to 63 small letters/);
    await commandEstate(dataDir, 'save', 'by-command');
    const { found: names } = await commandEstate(dataDir, 'list');
    assert.deepEqual(
      names?.map((/** @type {{ name: string }} */ one) => one.name),
      ['by-command', 'initial'],
    );

    const { url, word } = readRecord(join(dataDir, 'run/control.json'));
    /** @param {RequestInit} init */
    const status = async (init) => (await fetch(`${url}/reset`, init)).status;
    estate.log.length = 0;
    assert.equal(await status({ method: 'POST' }), 404);
    assert.equal(await status({ method: 'POST', headers: { authorization: `Bearer ${word}x` } }), 404);
    assert.equal(await status({ headers: { authorization: `Bearer ${word}` } }), 404);
    assert.deepEqual(estate.log, []);
    await control.stop();
    await assert.rejects(commandEstate(dataDir, 'reset'), /No estate runs on/);
  });
});
