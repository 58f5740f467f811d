/** Everything is lost and restored from a backup that was taken under load: databases, streams, repositories and files. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { SERVICES, WITHOUT_RATES } from '../../processes/environment.mjs';
import { startEstate } from '../../processes/estate.mjs';
import { freePort, until, writeRecord } from '../../processes/process-records.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { restoreBackup } from '../restored-backup.mjs';

const ROOKERY = fileURLToPath(new URL('../../cli/rookery.mjs', import.meta.url));
const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-backup-'));
const lost = join(folder, 'lost');
const restored = join(folder, 'restored');
const backup = join(folder, 'backup');
const content = Buffer.alloc(3_000_000, 'twig');
/** Tables of content, by service. Other tables contain replicas, heartbeats and queues. */
const CONTENT = {
  identity: ['users', 'projects', 'namespaces', 'members', 'access_tokens', 'project_statistics'],
  collaboration: ['issues', 'issue_assignees', 'notes', 'todos', 'activity_events', 'repositories', 'pushes'],
  package: ['packages', 'package_files'],
  import: ['project_imports'],
  admin: ['application_settings'],
};
/** Columns that requests of users change, downloads of packages included. */
const USED = [
  'last_used_at',
  'last_used_ips',
  'last_activity_at',
  'last_activity_on',
  'last_downloaded_at',
  'updated_at',
];
/** Tables that the writers and the later push change. */
const CHANGED = [
  ...['issues', 'issue_assignees', 'todos', 'activity_events', 'pushes', 'repositories'],
  'project_statistics',
];
/** @type {import('../../processes/estate.mjs').Estate} */
let estate;
const start = async (/** @type {string} */ dataDir) =>
  startEstate({ dataDir, port: await freePort(), env: WITHOUT_RATES, commanded: true });

before(async () => (estate = await start(lost)));
after(async () => {
  await estate.stop();
  for (const dataDir of [lost, restored]) discardPostgres(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [json]
 */
async function callApi(method, path, json) {
  const response = await fetch(`${estate.baseUrl}/api/v4${path}`, {
    method,
    headers: { 'private-token': estate.token, ...(json ? { 'content-type': 'application/json' } : {}) },
    ...(json ? { body: JSON.stringify(json) } : {}),
  });
  return { status: response.status, body: /** @type {any} */ (await response.json().catch(() => null)) };
}

/**
 * @param {...string} words
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function rookery(...words) {
  const env = { PATH: process.env['PATH'], ROOKERY_DATA: lost };
  const child = spawn(process.execPath, [ROOKERY, ...words], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

/**
 * @template T
 * @param {string} service
 * @param {(client: pg.Client) => Promise<T>} use
 */
async function inDatabase(service, use) {
  const client = new pg.Client({ connectionString: estate.databases[service] });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Number of rows and digest of each table of content. */
async function digestTables() {
  const lists = SERVICES.map((service) =>
    inDatabase(service, async (client) => {
      const rows = [];
      for (const table of CONTENT[/** @type {keyof typeof CONTENT} */ (service)]) {
        const statement = `select count(*)::int, md5(string_agg(content, '|' order by content)) as md5
          from ${table} t, lateral (select (to_jsonb(t) - $1::text[])::text as content) c`;
        rows.push([service, table, (await client.query(statement, [USED])).rows[0]]);
      }
      return rows;
    }),
  );
  return (await Promise.all(lists)).flat();
}

const packageFileUrl = (/** @type {number} */ project) =>
  `${estate.baseUrl}/api/v4/projects/${project}/packages/generic/nest/1.0.0/twigs.bin`;
const remoteHeadOf = async (/** @type {string} */ remote) =>
  (await promisify(execFile)('git', ['ls-remote', remote, 'refs/heads/main'])).stdout.split('\t')[0];
const remoteUrl = () => `http://root:${estate.token}@127.0.0.1:${estate.port}/root/eggs.git`;
const readEpoch = () =>
  inDatabase('identity', async (client) => (await client.query('select epoch from directory_head')).rows[0].epoch);

it('restores all parts to one moment: no difference, and no effect is lost or doubled', async () => {
  const project = (await callApi('POST', '/projects', { name: 'eggs' })).body.id;
  await fetch(packageFileUrl(project), { method: 'PUT', headers: { 'private-token': estate.token }, body: content });
  const work = join(folder, 'work');
  mkdirSync(work);
  const git = (/** @type {string[]} */ ...words) =>
    promisify(execFile)('git', ['-c', 'user.name=Wren', '-c', 'user.email=wren@example.com', ...words], { cwd: work });
  await git('init', '-q', '-b', 'main');
  writeFileSync(join(work, 'egg.txt'), 'blue\n');
  await git('add', '.');
  await git('commit', '-q', '-m', 'lay');
  await git('push', '-q', remoteUrl(), 'main');
  const commit = await remoteHeadOf(remoteUrl());

  // Writers continue while the backup is taken; each issue has an effect in another table through the stream.
  const made = { before: 0, all: 0 };
  let isOver = false;
  const writers = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      const fields = { title: 'egg', assignee_ids: [1] };
      const answer = await callApi('POST', `/projects/${project}/issues`, fields).catch(() => null);
      if (answer?.status === 201) made.all += 1;
    }
  });
  assert.ok(await until(() => made.all >= 20, 60_000));
  made.before = made.all;
  const taken = await rookery('backup', backup);
  assert.deepEqual([taken.status, /^backup of .*: \d+ files/.test(taken.output)], [0, true], taken.output);
  const during = made.all;
  assert.ok(await until(() => made.all > during + 10, 60_000));
  isOver = true;
  await Promise.all(writers);
  const former = { epoch: await readEpoch(), token: estate.token };
  writeFileSync(join(work, 'egg.txt'), 'white\n');
  await git('commit', '-q', '-a', '-m', 'paint');
  await git('push', '-q', remoteUrl(), 'main');
  const before = await digestTables();
  await estate.stop();
  await estate.discard();

  const from = performance.now();
  const put = await rookery('restore', backup, '--data', restored);
  assert.equal(put.status, 0, put.output);
  const putMs = performance.now() - from;
  estate = await start(restored);
  assert.equal(estate.token, former.token);
  process.stdout.write(`${taken.output.trim()}; restored in ${putMs.toFixed(0)} ms\n`);

  const count = async () =>
    inDatabase('collaboration', async (client) => {
      const { rows } = await client.query(
        `select (select count(*)::int from issues) as issues, (select max(iid)::int from issues) as last,
           (select count(*)::int from todos) as todos, (select count(distinct target_id)::int from todos) as targets`,
      );
      return rows[0];
    });
  const { issues, last } = await count();
  assert.ok(issues >= made.before && issues < made.all, `${issues} of ${made.all}`);
  assert.equal(last, issues);
  await until(async () => (await count()).todos >= issues, 60_000);
  assert.deepEqual(await count(), { issues, last, todos: issues, targets: issues });
  assert.equal(await remoteHeadOf(remoteUrl()), commit);
  const back = await fetch(packageFileUrl(project), { headers: { 'private-token': estate.token } });
  assert.ok(Buffer.from(await back.arrayBuffer()).equals(content));
  assert.notEqual(await readEpoch(), former.epoch);
  // Tables that neither the writers nor the later push changed have the same rows as the lost ones.
  /** @param {any[]} row */
  const isStill = ([, table]) => !CHANGED.includes(table);
  const now = await digestTables();
  assert.deepEqual(now.filter(isStill), before.filter(isStill));
  const next = await callApi('POST', `/projects/${project}/issues`, { title: 'next' });
  assert.deepEqual([next.status, next.body.iid], [201, issues + 1]);
  assert.equal(existsSync(join(restored, 'restored-backup.json')), false);
});

it('refuses a backup that is incomplete or damaged, and folders with content', async () => {
  const other = join(folder, 'other');
  await assert.rejects(restoreBackup(backup, restored), /is not empty/);
  assert.equal((await rookery('backup', backup)).status, 69);
  assert.deepEqual(await rookery('backup', backup, '--data', restored), {
    status: 1,
    output: `${backup} is not empty\n`,
  });
  rmSync(other, { recursive: true, force: true });
  appendFileSync(join(backup, 'state/secrets.json'), ' ');
  await assert.rejects(restoreBackup(backup, other), /state\/secrets.json is damaged/);
  await assert.rejects(start(other), /was interrupted: delete the folder and restore again/);
  discardPostgres(other);
  appendFileSync(join(backup, 'SHA256SUMS'), '\n');
  await assert.rejects(restoreBackup(backup, other), /SHA256SUMS is damaged/);
  writeRecord(join(backup, 'backup.json'), { format: 9 });
  await assert.rejects(restoreBackup(backup, other), /has format 9/);
  rmSync(join(backup, 'backup.json'));
  await assert.rejects(restoreBackup(backup, other), /holds no complete backup/);
});
