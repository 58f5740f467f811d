/**
 * `npm start -- --one`: all services in one process, used as by clients, killed under load, reset and stopped (ADR 0197).
 *
 * @typedef {import('../process-records.mjs').ProcessRecord} ProcessRecord
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WITHOUT_RATES } from '../environment.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { freePort, isAlive, portIsFree, readRecord, until } from '../process-records.mjs';

/** @param {string} path */
const program = (path) => fileURLToPath(new URL(path, import.meta.url));
const TOKEN = 'glpat-root-of-the-one-process';
const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-one-'));
const dataDir = join(folder, 'data');
const port = await freePort();
const base = `http://localhost:${port}/api/v4`;
const env = {
  ...process.env,
  ...WITHOUT_RATES,
  PORT: String(port),
  ROOKERY_DATA: dataDir,
  ROOKERY_ROOT_TOKEN: TOKEN,
  ROOKERY_STRICT_PARAMETERS: 'on',
};
let output = '';
/** @type {import('node:child_process').ChildProcess} */
let supervisor;
/** @type {Promise<unknown>} */
let ended;

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [json]
 * @param {string} [token]
 */
async function callApi(method, path, json, token = TOKEN) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { 'private-token': token, ...(json ? { 'content-type': 'application/json' } : {}) },
    ...(json ? { body: JSON.stringify(json) } : {}),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, text, headers: response.headers, body: isJson ? JSON.parse(text) : null };
}

/** @param {...string} words */
function git(...words) {
  const environment = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_GLOBAL: '/dev/null' };
  const identity = ['-c', 'user.name=Wren', '-c', 'user.email=wren@example.com'];
  return execFileSync('git', [...identity, ...words], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** @returns {{ one: number, supervisor: number }} */
const pids = () => readRecord(join(dataDir, 'run/pids.json'));
/** @returns {ProcessRecord[]} */
const recordedProcesses = () =>
  (readRecord(join(dataDir, 'run/processes.json')) ?? []).concat(readRecord(join(dataDir, 'nats/process.json')) ?? []);

describe('npm start -- --one', () => {
  /** @type {number} */
  let project;
  /** @type {{ id: number, token: string }} */
  let wren;

  before(async () => {
    supervisor = spawn(process.execPath, [program('../start.mjs'), '--one'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ended = new Promise((resolve) => supervisor.once('close', resolve));
    for (const stream of [supervisor.stdout, supervisor.stderr]) stream?.on('data', (text) => (output += text));
    let isOver = false;
    void ended.then(() => (isOver = true));
    await until(() => output.includes('base URL') || isOver, 300_000);
    assert.match(output, /all services are ready in one process/, output);
  });
  after(async () => {
    supervisor.kill('SIGTERM');
    await ended;
    discardPostgres(dataDir);
    rmSync(folder, { recursive: true, force: true });
  });

  it('refuses other arguments and layouts', () => {
    /** @type {(words: string[], more?: Record<string, string>) => import('node:child_process').SpawnSyncReturns<string>} */
    const start = (words, more) =>
      spawnSync(process.execPath, [program('../start.mjs'), ...words], { env: { ...env, ...more }, encoding: 'utf8' });
    assert.equal(start(['--two']).status, 64);
    assert.match(start([], { ROOKERY_LAYOUT: 'two' }).stderr, /ROOKERY_LAYOUT is six or one, not "two"/);
    assert.equal(start(['dev'], { ROOKERY_LAYOUT: 'one' }).status, 64);
  });

  it('runs one process for all services, next to PostgreSQL and NATS', () => {
    assert.deepEqual(Object.keys(pids()).sort(), ['nats', 'one', 'postgres', 'supervisor']);
    assert.equal(recordedProcesses().length, 2);
  });

  it('serves a person from the first project to the to-do, with git, a package and a page', async () => {
    const user = await callApi('POST', '/users', {
      username: 'wren',
      name: 'Wren',
      email: 'wren@example.com',
      force_random_password: true,
    });
    assert.equal(user.status, 201, user.text);
    const token = await callApi('POST', `/users/${user.body.id}/personal_access_tokens`, {
      name: 'test',
      scopes: ['api'],
    });
    wren = { id: user.body.id, token: token.body.token };
    project = (await callApi('POST', '/projects', { name: 'eggs' })).body.id;
    await callApi('POST', `/projects/${project}/members`, { user_id: wren.id, access_level: 40 });
    const issue = await callApi('POST', `/projects/${project}/issues`, { title: 'First egg' }, wren.token);
    assert.equal(issue.status, 201, issue.text);
    const note = await callApi('POST', `/projects/${project}/issues/1/notes`, { body: 'Look here, @wren!' });
    assert.equal(note.status, 201, note.text);
    const todos = () => callApi('GET', '/todos', undefined, wren.token);
    assert.ok(await until(async () => (await todos()).body?.length === 1, 60_000, 50));
    const page = await fetch(`http://localhost:${port}/-/sign_in`, { headers: { accept: 'text/html' } });
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(await page.text(), /<form/);

    const remote = `http://wren:${wren.token}@localhost:${port}/root/eggs.git`;
    git('init', '-q', '-b', 'main', 'work');
    writeFileSync(join(folder, 'work/egg.txt'), 'blue\n');
    git('-C', 'work', 'add', '.');
    git('-C', 'work', 'commit', '-q', '-m', 'lay');
    git('-C', 'work', 'push', '-q', remote, 'main');
    git('clone', '-q', remote, 'clone');
    assert.equal(readFileSync(join(folder, 'clone/egg.txt'), 'utf8'), 'blue\n');

    const file = `${base}/projects/${project}/packages/generic/nest/1.0.0/twigs.bin`;
    const content = Buffer.alloc(5_000_000, 'twig');
    const headers = { 'private-token': wren.token };
    assert.equal((await fetch(file, { method: 'PUT', headers, body: content })).status, 201);
    assert.ok(Buffer.from(await (await fetch(file, { headers })).arrayBuffer()).equals(content));
  });

  it('is restarted after kill -9 under load: no acknowledged write and no effect is lost or doubled', async () => {
    const before = pids().one;
    const path = `/projects/${project}/issues`;
    /** @type {string[]} */
    const acknowledged = [];
    let isOver = false;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let serial = 0; !isOver; serial += 1) {
        const title = `egg ${writer}.${serial}`;
        const answer = await callApi('POST', path, { title, assignee_ids: [wren.id] }).catch(() => null);
        if (answer?.status === 201) acknowledged.push(title);
      }
    });
    assert.ok(await until(() => acknowledged.length >= 30, 60_000, 5));
    process.kill(before, 'SIGKILL');
    assert.ok(await until(() => pids().one !== before, 60_000));
    const held = acknowledged.length;
    assert.ok(await until(() => acknowledged.length >= held + 10, 120_000, 5), output);
    isOver = true;
    await Promise.all(writers);

    /** @type {(path: string, token: string) => Promise<any[]>} */
    const all = async (list, token) => {
      const rows = [];
      for (let page = 1; ; page += 1) {
        const { body } = await callApi('GET', `${list}&per_page=100&page=${page}`, undefined, token);
        rows.push(...body);
        if (body.length < 100) return rows;
      }
    };
    const issues = await all(`${path}?assignee_id=${wren.id}`, TOKEN);
    const titles = issues.map(({ title }) => title);
    assert.equal(new Set(titles).size, titles.length);
    assert.deepEqual(
      acknowledged.filter((title) => !titles.includes(title)),
      [],
    );
    const assigned = async () =>
      (await all('/todos?action=assigned', wren.token)).map(({ target }) => target.iid).sort((a, b) => a - b);
    const wanted = issues.map(({ iid }) => iid).sort((a, b) => a - b);
    await until(async () => (await assigned()).length >= wanted.length, 60_000, 100);
    assert.deepEqual(await assigned(), wanted);
  });

  it('returns to its first state by npm run reset', async () => {
    // Not `spawnSync`, during which this process would not notice that connections are closed.
    const reset = spawn(process.execPath, [program('../../cli/rookery.mjs'), 'reset'], { env });
    assert.equal(await new Promise((resolve) => reset.once('close', resolve)), 0);
    assert.equal((await callApi('GET', `/projects/${project}`)).status, 404);
    assert.equal((await callApi('GET', '/user')).status, 200);
    assert.ok(isAlive(recordedProcesses().find(({ pid }) => pid === pids().one)));
  });

  it('refuses to stop a single service', () => {
    const words = [program('../../cli/rookery.mjs'), 'service', 'stop', 'package'];
    const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /package is not a process of its own/);
  });

  it('stops on Ctrl-C with status 0 and leaves nothing', async () => {
    const all = recordedProcesses();
    supervisor.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.deepEqual(all.filter(isAlive), []);
    assert.equal(await portIsFree(port), true);
    assert.equal(existsSync(join(dataDir, 'run/processes.json')), false);
    assert.doesNotMatch(readFileSync(join(dataDir, 'logs/one.log'), 'utf8'), /"level":"error"/);
  });
});
