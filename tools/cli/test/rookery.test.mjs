/** `npx rookery` against a running estate of six processes, and its checks without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { startEstate } from '../../processes/estate.mjs';
import { freePort } from '../../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { databaseFindings, diskFinding, gitFinding, nodeFinding } from '../doctor.mjs';

const ROOKERY = fileURLToPath(new URL('../rookery.mjs', import.meta.url));
const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-cli-'));
/** @type {import('../../processes/estate.mjs').Estate} */
let estate;

before(async () => {
  estate = await startEstate({
    dataDir,
    port: await freePort(),
    env: WITHOUT_RATES,
    resettable: true,
    commanded: true,
  });
});
after(async () => {
  await estate?.stop();
  await estate?.discard();
});

/**
 * Runs the command line. Not `spawnSync`, during which this process could not execute commands of the estate.
 * @param {string[]} words
 * @param {{ input?: string, env?: Record<string, string> }} [options]
 * @returns {Promise<{ status: number | null, stdout: string, stderr: string }>}
 */
function rookery(words, { input = '', env = {} } = {}) {
  const child = spawn(process.execPath, [ROOKERY, ...words], {
    env: { PATH: process.env['PATH'], ROOKERY_DATA: dataDir, ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += text));
  child.stderr.on('data', (text) => (output.stderr += text));
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, ...output })));
}

/** @param {string[]} words */
async function rookeryJson(...words) {
  const { status, stdout, stderr } = await rookery([...words, '--json']);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** @param {string} path @param {string} token */
const getFromApi = (path, token) => fetch(`${estate.baseUrl}/api/v4${path}`, { headers: { 'private-token': token } });

describe('npx rookery', () => {
  it('shows the state of each process as a table and as JSON', async () => {
    const table = await rookery(['status']);
    assert.equal(table.status, 0, table.stderr);
    assert.match(table.stdout, /^process +state +pid/);
    assert.match(table.stdout, /^collaboration +ready +\d+ +http:\/\/127\.0\.0\.1:\d+ +0 +0 +-$/m);
    const states = await rookeryJson('status');
    assert.deepEqual(new Set(states.map((/** @type {any} */ one) => one.state)), new Set(['ready']));
    assert.equal(states.length, 8);
    const registry = states.find((/** @type {any} */ one) => one.process === 'package');
    assert.equal(registry.pid, estate.pids['package']);
    assert.match(await (await fetch(`${registry.management}/-/metrics`)).text(), /^rookery_/m);
  });

  it('creates users and tokens that work, and lists projects', async () => {
    const wren = await rookeryJson('users', 'create', '--username', 'wren', '--email', 'wren@example.com');
    assert.deepEqual(wren, { id: wren.id, username: 'wren', email: 'wren@example.com' });
    const made = await rookery(['tokens', 'create', '--user', 'wren', '--name', 'ci', '--scopes', 'api,read_user']);
    assert.equal(made.status, 0, made.stderr);
    const token = made.stdout.trim();
    const user = /** @type {any} */ (await (await getFromApi('/user', token)).json());
    assert.deepEqual([user.username, user.name, user.is_admin ?? false], ['wren', 'wren', false]);
    for (const name of ['eggs', 'twigs', 'nest'])
      await fetch(`${estate.baseUrl}/api/v4/projects`, {
        method: 'POST',
        headers: { 'private-token': token },
        body: new URLSearchParams({ name }),
      });
    const paths = async (/** @type {string[]} */ ...words) =>
      (await rookeryJson('projects', ...words)).map((/** @type {any} */ project) => project.path);
    assert.deepEqual(await paths('--limit', '2'), ['wren/nest', 'wren/twigs']);
    assert.deepEqual(await paths('--search', 'egg'), ['wren/eggs']);
    const owl = ['users', 'create', '--username', 'owl', '--email', 'owl@example.com', '--admin', '--password-stdin'];
    assert.equal((await rookery(owl, { input: 'a long pass phrase of owls\n' })).stdout, 'user 3 owl created\n');
    const again = await rookery(owl, { input: 'a long pass phrase of owls\n' });
    assert.deepEqual([again.status, /^409 /.test(again.stderr)], [1, true], again.stderr);
    const unknown = await rookery(['tokens', 'create', '--user', 'heron', '--name', 'ci']);
    assert.deepEqual([unknown.status, unknown.stderr], [1, 'there is no user heron\n']);
  });

  it('reaches an estate by its address, with a token from a file', async () => {
    const file = join(dataDir, 'token');
    writeFileSync(file, `${estate.token}\n`);
    const words = ['projects', '--url', estate.baseUrl, '--token-file', file, '--json', '--data', '/nowhere'];
    assert.equal(JSON.parse((await rookery(words)).stdout).length, 3);
    const without = await rookery(['projects', '--url', estate.baseUrl]);
    assert.deepEqual([without.status, /ROOKERY_ROOT_TOKEN/.test(without.stderr)], [64, true]);
    const away = await rookery(['projects', '--url', `http://127.0.0.1:${await freePort()}`, '--token-file', file]);
    assert.deepEqual([away.status, /does not answer/.test(away.stderr)], [69, true]);
    const foreign = await rookery(['projects'], { env: { ROOKERY_ROOT_TOKEN: 'glpat-unknown-token-00000' } });
    assert.deepEqual([foreign.status, foreign.stderr], [1, '401 401 Unauthorized\n']);
  });

  it('lists, shows, replays and discards dead letters', async () => {
    const database = new pg.Client({ connectionString: estate.databases['package'] });
    await database.connect();
    await database.query(
      `insert into dead_letters (effect, event_key, event_id, subject, headers, body, reason, error, state)
       select 'unknown-effect', 'key' || n, gen_random_uuid(), 'identity.project.created.v1', '{}', '{"n":1}', 'failed',
         E'broken \\x1b[31m\\nstack', 'open' from generate_series(1, 2) n`,
    );
    await database.end();
    const [first, second] = await rookeryJson('dead-letters', 'list');
    assert.deepEqual(
      [first.service, first.effect, first.state, first.error],
      ['package', 'unknown-effect', 'open', 'broken \x1b[31m'],
    );
    const [table, shown, unknown] = await Promise.all([
      rookery(['dead-letters', 'list', 'package']),
      rookery(['dead-letters', 'show', 'package', String(first.id)]),
      rookery(['dead-letters', 'show', 'package', '999']),
    ]);
    // The list contains open ones, so it is read before these change.
    const [discarded, replayed] = await Promise.all([
      rookery(['dead-letters', 'discard', 'package', String(second.id), '--reason', 'a test']),
      rookery(['dead-letters', 'replay', 'package', String(first.id), '--reason', 'a test']),
    ]);
    assert.match(table.stdout, /^package +\d+ +event +open +unknown-effect/m);
    assert.doesNotMatch(table.stdout, /\x1b/);
    assert.equal(JSON.parse(shown.stdout).body.n, 1);
    assert.deepEqual([discarded.status, discarded.stdout], [0, `${second.id} discarded\n`]);
    assert.match(replayed.stdout, /^1 to be replayed/);
    assert.deepEqual([unknown.status, unknown.stderr], [1, 'no such dead letter\n']);
  });

  it('rebuilds the copies of the directory, and sends events again', async () => {
    const { epoch, services } = await rookeryJson('rebuild');
    assert.deepEqual(services, ['collaboration', 'import', 'package', 'admin']);
    const database = new pg.Client({ connectionString: estate.databases['import'] });
    await database.connect();
    assert.equal((await database.query('select epoch from directory_state')).rows[0].epoch, epoch);
    await database.end();
    const sent = await rookery(['republish', 'identity', '--from', '2026-01-01T00:00:00Z']);
    assert.match(sent.stdout, /^[1-9]\d* events will be sent again\n$/);
  });

  it('finds no problem with a new estate, and the service that is stopped', async () => {
    const findings = await rookeryJson('doctor');
    const bad = findings.filter((/** @type {any} */ one) => one.verdict === 'problem');
    assert.deepEqual(bad, []);
    assert.ok(findings.some((/** @type {any} */ one) => one.about.startsWith('RATE_LIMITS=off')));
    assert.equal((await rookeryJson('service', 'stop', 'package')).name, 'package');
    const [status, sick] = await Promise.all([
      rookery(['status']),
      rookery(['doctor'], { env: { MAILER_RETRY_FRST_MS: '1' } }),
    ]);
    assert.deepEqual([status.status, status.stderr], [1, 'not all processes are ready\n']);
    assert.match(status.stdout, /^package +stopped/m);
    assert.equal(sick.status, 1);
    assert.match(sick.stdout, /^problem +configuration +MAILER_RETRY_FRST_MS is no setting$/m);
    assert.match(sick.stdout, /^problem +package +stopped$/m);
    assert.match((await rookery(['service', 'start', 'package'])).stdout, /^package started in/);
  });

  it('saves and lists states', async () => {
    assert.match((await rookery(['snapshot', 'save', 'birds'])).stdout, /^saved birds in [\d.]+ s\n$/);
    assert.deepEqual(
      (await rookeryJson('snapshot', 'list')).map((/** @type {any} */ one) => one.name),
      ['birds', 'initial'],
    );
  });

  it('refuses wrong arguments with 64, and answers 69 where no estate runs', async () => {
    const wrong = [
      ['nonsense'],
      ['users', 'create'],
      ['projects', '--limit', '0'],
      ['dead-letters', 'list', 'gateway'],
      ['republish', 'identity'],
      ['service', 'stop', 'nest'],
      ['snapshot', 'save'],
    ];
    const outcomes = await Promise.all(wrong.map((words) => rookery(words)));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [64, 64, 64, 64, 64, 64, 64],
    );
    for (const words of [['status'], ['reset'], ['projects'], ['doctor']])
      assert.equal((await rookery([...words, '--data', '/nowhere'])).status, 69, words[0]);
    assert.equal((await rookery(['--help'])).status, 0);
  });
});

describe('a check of the doctor', () => {
  it('names old and missing programs', () => {
    assert.equal(nodeFinding('20.18.1').verdict, 'problem');
    assert.equal(nodeFinding('20.19.0').verdict, 'ok');
    assert.deepEqual(gitFinding(null), { check: 'git', verdict: 'problem', about: 'is not installed' });
    assert.equal(gitFinding('git version 2.38.1').verdict, 'problem');
    assert.equal(gitFinding('git version 3.0.0').verdict, 'ok');
  });

  it('finds databases that lose writes, and clocks that differ', () => {
    const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', data_checksums: 'on' };
    /** @param {object} changes */
    const verdicts = (changes, skewMs = 0) =>
      databaseFindings({ service: 'admin', settings: { ...settings, ...changes }, skewMs }).map((one) => one.verdict);
    assert.deepEqual(verdicts({}), ['ok', 'ok']);
    assert.deepEqual(verdicts({ fsync: 'off', full_page_writes: 'off' }), ['problem', 'problem', 'ok']);
    assert.deepEqual(verdicts({ synchronous_commit: 'off' }), ['problem', 'ok']);
    assert.deepEqual(verdicts({ synchronous_commit: 'local' }), ['ok', 'ok']);
    assert.deepEqual(verdicts({ data_checksums: 'off' }, -1500), ['warning', 'warning']);
    assert.deepEqual(verdicts({}, 6000), ['ok', 'problem']);
    assert.deepEqual(databaseFindings({ service: 'admin', error: 'refused' }), [
      { check: 'database of admin', verdict: 'problem', about: 'refused' },
    ]);
  });

  it('finds a full disk', () => {
    const verdicts = [100, 1000, 10_000].map((mib) => diskFinding({ bavail: mib, bsize: 2 ** 20 }).verdict);
    assert.deepEqual(verdicts, ['problem', 'warning', 'ok']);
  });
});
