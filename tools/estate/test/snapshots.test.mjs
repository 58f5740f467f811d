/** States that are kept and put back, at the level of databases, streams and files, with crashes in between. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { ensureDatabases } from '../databases.mjs';
import { SERVICES } from '../environment.mjs';
import { commandEstate, startLocalControl } from '../local-control.mjs';
import { discardPostgres, sharedTemporary } from '../postgres-files.mjs';
import { startPostgres } from '../postgres.mjs';
import { readRecord, until, writeRecord } from '../processes.mjs';
import { readSecrets } from '../secrets.mjs';
import { Snapshots } from '../snapshots.mjs';

const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-states-'));
const mailDir = join(dataDir, 'mail');
const streams = join(dataDir, 'nats/store');
const secrets = readSecrets(dataDir);
let postgres;
let databases;

before(async () => {
  postgres = await startPostgres({ folder: dataDir, password: secrets.postgres });
  databases = await ensureDatabases(postgres, secrets.databases);
  for (const service of SERVICES) await ask(service, 'CREATE TABLE facts (fact text)');
  mkdirSync(mailDir);
  mkdirSync(streams, { recursive: true });
});
after(async () => {
  await postgres.stop();
  discardPostgres(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

async function ask(service, text) {
  const client = new pg.Client({ connectionString: databases[service] });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Says what is in every part of the estate. */
async function put(fact) {
  for (const service of SERVICES) await ask(service, `TRUNCATE facts; INSERT INTO facts VALUES ('${fact}')`);
  writeFileSync(join(streams, 'messages'), fact);
  for (const file of readdirSync(mailDir)) rmSync(join(mailDir, file));
  writeFileSync(join(mailDir, `${fact}.eml`), fact);
  writeRecord(join(dataDir, 'migrated.json'), { fact });
}

async function found() {
  const rows = await Promise.all(SERVICES.map((service) => ask(service, 'SELECT fact FROM facts')));
  const facts = rows.map(([row]) => row.fact);
  const mails = readdirSync(mailDir);
  const stamp = readRecord(join(dataDir, 'migrated.json'));
  return [
    ...new Set([
      ...facts,
      readFileSync(join(streams, 'messages'), 'utf8'),
      stamp.fact,
      ...mails.map((file) => file.replace('.eml', '')),
    ]),
  ];
}

/** The server of one database cluster, with everything else as the supervisor has it. Shape: `fails` names a step. */
function estateOf({ fails = null, cluster = postgres.identity } = {}) {
  const said = [];
  const step = (name) => async () => {
    said.push(name);
    if (name === fails) throw new Error(`${name} failed`);
  };
  const estate = {
    dataDir,
    mailDir,
    postgres,
    databases,
    isResettable: true,
    cluster,
    said,
    nats: { stop: step('bus stops'), start: step('bus starts') },
    bringUpToDate: step('up to date'),
    async atRest(use, { resumesAfterFailure = true } = {}) {
      said.push('rest');
      try {
        await use();
      } catch (error) {
        if (resumesAfterFailure) said.push('resume');
        throw error;
      }
      said.push('resume');
    },
  };
  estate.snapshots = new Snapshots(estate);
  return estate;
}

async function copies() {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  const { rows } = await client.query(`SELECT datname FROM pg_database WHERE datname ~ '_(s|next|gone)_' ORDER BY 1`);
  await client.end();
  return rows.map((row) => row.datname);
}

describe('a state', () => {
  let estate;
  beforeEach(() => (estate = estateOf()));

  it('is put back as it was kept, all of it, as often as one likes', async () => {
    await put('early');
    await estate.snapshots.save('initial');
    for (const fact of ['late', 'later']) {
      await put(fact);
      await estate.snapshots.restore('initial');
      assert.deepEqual(await found(), ['early']);
      await estate.snapshots.tidy();
    }
    assert.deepEqual(estate.said.slice(-5), ['rest', 'bus stops', 'bus starts', 'up to date', 'resume']);
  });

  it('may be entered by the role of its service alone, and what is kept by nobody', async () => {
    await estate.snapshots.restore('initial');
    assert.deepEqual(await ask('admin', 'SELECT current_user AS role'), [{ role: 'rookery_admin' }]);
    const foreign = databases.admin.replace(/rookery_admin(?=\?)/, 'rookery_identity');
    const query = async (connectionString) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.end();
    };
    await assert.rejects(query(foreign), /permission denied/);
    const kept = (await copies()).find((name) => name.startsWith('rookery_s_'));
    await assert.rejects(query(databases.admin.replace(/rookery_admin(?=\?)/, kept)), /permission denied/);
  });

  it('takes the connections of whoever still has one', async () => {
    const client = new pg.Client({ connectionString: databases.package });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await estate.snapshots.restore('initial');
    assert.match((await ended).message, /terminating connection|terminated unexpectedly/);
  });

  it('takes the place of another of its name, and leaves nothing when it is deleted', async () => {
    await put('one');
    await estate.snapshots.save('mine');
    await put('two');
    await estate.snapshots.save('mine');
    await put('three');
    await estate.snapshots.restore('mine');
    assert.deepEqual(await found(), ['two']);
    assert.deepEqual(
      estate.snapshots.list().map((one) => one.name),
      ['initial', 'mine'],
    );
    await estate.snapshots.remove('mine');
    await estate.snapshots.tidy();
    // Those of the first state, kept and prepared.
    assert.equal((await copies()).length, 2 * SERVICES.length);
    assert.equal(readdirSync(estate.snapshots.folder).length, 2);
  });

  it('is refused by names that are none, taken or of nothing', async () => {
    for (const name of ['', undefined, '../x', 'A', 'a/b', 'x'.repeat(64)])
      await assert.rejects(estate.snapshots.save(name), /1 to 63 small letters/);
    await assert.rejects(estate.snapshots.save('initial'), /by the first start alone/);
    await assert.rejects(estate.snapshots.restore('nothing'), /no snapshot "nothing"; there are: initial/);
    await assert.rejects(estate.snapshots.remove('initial'), /npm run reset goes back to/);
    assert.deepEqual(estate.said, []);
  });

  it('is refused where a server is not the estate’s own, and in another cluster', async () => {
    const foreign = estateOf();
    foreign.nats = null;
    await assert.rejects(foreign.snapshots.save('mine'), /all its own/);
    await assert.rejects(estateOf({ cluster: 'other' }).snapshots.restore('initial'), /are gone/);
  });

  it('goes on after a save that failed, and keeps nothing of it', async () => {
    const failing = estateOf({ fails: 'bus stops' });
    await assert.rejects(failing.snapshots.save('mine'), /bus stops failed/);
    assert.equal(failing.said.at(-1), 'resume');
    assert.deepEqual(
      failing.snapshots.list().map((one) => one.name),
      ['initial'],
    );
  });

  for (const fails of ['bus stops', 'bus starts', 'up to date']) {
    it(`is put back by the next start or the next try when it was broken off as the ${fails}`, async () => {
      await put('late');
      const failing = estateOf({ fails });
      await assert.rejects(failing.snapshots.restore('initial'), new RegExp(`${fails} failed`));
      // Nobody is served what may be half of one and half of the other.
      assert.equal(failing.said.includes('resume'), false);
      assert.equal(await estate.snapshots.mend(), 'initial');
      assert.deepEqual(await found(), ['early']);
      assert.equal(await estate.snapshots.mend(), null);
      assert.equal(existsSync(estate.snapshots.journal), false);
    });
  }
});

describe('the way to a running estate', () => {
  it('is open to who can read the data folder, while it runs', async () => {
    const estate = estateOf();
    await assert.rejects(commandEstate(dataDir, 'reset'), /No estate runs on/);
    const control = await startLocalControl(estate);
    await put('late');
    const early = commandEstate(dataDir, 'reset');
    await until(() => false, 50);
    assert.deepEqual(estate.said, []);
    control.begin();
    assert.ok((await early).ms >= 0);
    assert.deepEqual(await found(), ['early']);
    await assert.rejects(commandEstate(dataDir, 'restore', 'no/such'), /1 to 63 small letters/);
    await commandEstate(dataDir, 'save', 'by-command');
    const { found: names } = await commandEstate(dataDir, 'list');
    assert.deepEqual(
      names.map((one) => one.name),
      ['by-command', 'initial'],
    );

    const { url, word } = readRecord(join(dataDir, 'run/control.json'));
    const status = async (init) => (await fetch(`${url}/reset`, init)).status;
    estate.said.length = 0;
    assert.equal(await status({ method: 'POST' }), 404);
    assert.equal(await status({ method: 'POST', headers: { authorization: `Bearer ${word}x` } }), 404);
    assert.equal(await status({ headers: { authorization: `Bearer ${word}` } }), 404);
    assert.deepEqual(estate.said, []);
    await control.stop();
    await assert.rejects(commandEstate(dataDir, 'reset'), /No estate runs on/);
  });
});
