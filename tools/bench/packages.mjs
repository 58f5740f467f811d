/**
 * `npm run bench -- packages [lists|metadata|download] [--rounds 3] [--count 100]`: costs of packages.
 *
 * - lists: p50 of the package list of a group with ten thousand packages and of one with a million, in two estates, in turn.
 *   Goal: a factor of at most 1.15.
 * - metadata: p50 of the npm metadata of a package with 5,000 versions: first read after a change, later reads, and reads by a
 *   client that has it. Goal: at most 100 ms each.
 * - download: CPU time of gateway and package service for a file of 100 MB, compared with a bare static server behind one
 *   hop (static-server.mjs). Goal: a factor of at most 1.3.
 *
 * The exit code is 1 if a goal is missed.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {{ estate: Estate, group: number, project: number, headers: Record<string, string> }} BenchEstate
 * @typedef {{ rounds: number, count: number }} Options
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { request } from 'undici';
import { WITHOUT_RATES } from '../processes/environment.mjs';
import { startEstate } from '../processes/estate.mjs';
import { freePort } from '../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { cpuSeconds, measureIdleCpu } from './cpu.mjs';
import { load } from './load.mjs';
import { makePerson, writerOf } from './writer.mjs';

const SIZES = { few: 10_000, many: 1_000_000 };
const PROJECTS = 20;
const VERSIONS = 5000;
const FILE_BYTES = 100_000_000;
const DOWNLOADS = 10;
const GOALS = { lists: 1.15, metadataMs: 100, download: 1.3 };
/** Measured, but without a goal: these orders sort all packages of a project. */
const LISTS = ['', '?package_type=npm', '?order_by=created_at&sort=desc', '?page=3'];

const PARTS = { lists: benchPackageLists, metadata: benchNpmMetadata, download: benchPackageDownload };

/**
 * Runs the benchmark, or the parts that `words` name. Resolves to whether every goal was met.
 * @param {Options & { words: string[] }} options
 */
export async function benchPackages({ words, ...options }) {
  let isKept = true;
  for (const [name, part] of Object.entries(PARTS)) {
    if (words.length === 0 || words.includes(name)) isKept = (await part(options)) && isKept;
  }
  return isKept;
}

/** Starts an estate with a group of projects. @returns {Promise<BenchEstate>} */
async function startEstateWithProjects() {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: WITHOUT_RATES });
  const post = writerOf(estate);
  const reader = await makePerson(post, 'reader');
  const { id: group } = await post('/groups', { name: 'bench', path: 'bench' });
  await post(`/groups/${group}/members`, { user_id: reader.id, access_level: 40 });
  const { id: project } = await post('/projects', { name: 'p1', namespace_id: group });
  for (let n = 2; n <= PROJECTS; n += 1) await post('/projects', { name: `p${n}`, namespace_id: group });
  return { estate, group, project, headers: { 'private-token': reader.token } };
}

/** @param {BenchEstate} place */
async function stopBenchEstate({ estate }) {
  await estate.stop();
  await estate.discard();
}

/**
 * Runs statements on the database of the package service, once it has all projects.
 * @param {BenchEstate} place
 * @param {string[]} statements
 */
async function runOnPackageDatabase({ estate, project, headers }, statements) {
  await fetch(`${estate.baseUrl}/api/v4/projects/${project + PROJECTS - 1}/packages`, { headers });
  const client = new pg.Client({ connectionString: estate.owners['package'] });
  await client.connect();
  await client.query('set synchronous_commit = off');
  for (const statement of statements) await client.query(statement);
  await client.query('vacuum analyze');
  await client.end();
}

/**
 * p50 of a read, in ms. Errors: an answer other than 2xx.
 * @param {BenchEstate} place
 * @param {string} path
 * @param {{ count: number, headers?: Record<string, string> }} options
 */
async function p50OfReads({ estate, headers }, path, { count, headers: more = {} }) {
  const asked = { method: /** @type {const} */ ('GET'), path: `/api/v4${path}`, headers: { ...headers, ...more } };
  const { p50, bad } = await load(estate.baseUrl, { concurrency: 1, count, next: () => asked });
  if (bad > 0 && !more['if-none-match']) throw new Error(`${bad} answers to GET ${path} were not 2xx`);
  return p50;
}

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** @param {Options} options */
async function benchPackageLists({ rounds, count }) {
  /** @type {Record<string, BenchEstate>} */
  const places = {};
  let isKept = true;
  try {
    for (const [size, total] of Object.entries(SIZES)) {
      const place = await startEstateWithProjects();
      places[size] = place;
      const values = `${place.project} + n % ${PROJECTS}, 'npm', 'n' || n / 100, 'n' || n / 100, '1.0.' || n,
        now() - n * interval '1 second'`;
      await runOnPackageDatabase(place, [
        `insert into packages (project_id, package_type, name, name_key, version, created_at)
         select ${values} from generate_series(1, ${total}) n`,
      ]);
    }
    console.log(`p50 in ms of a group's packages: ${SIZES.few}, ${SIZES.many}, and their ratio (goal ${GOALS.lists})`);
    for (const list of LISTS) {
      /** @type {Record<string, number[]>} */
      const seen = { few: [], many: [] };
      for (let round = -1; round < rounds; round += 1) {
        for (const [size, place] of Object.entries(places)) {
          const p50 = await p50OfReads(place, `/groups/${place.group}/packages${list}`, { count });
          // The first round warms up.
          if (round >= 0) seen[size]?.push(p50);
        }
      }
      const [few, many] = [median(seen['few'] ?? []), median(seen['many'] ?? [])];
      if (many / few > GOALS.lists) isKept = false;
      const cells = [few.toFixed(2), many.toFixed(2), `x ${(many / few).toFixed(2)}`].map((text) => text.padStart(10));
      console.log(`${many / few > GOALS.lists ? '!' : ' '} /groups/:id/packages${list.padEnd(34)}${cells.join('')}`);
    }
    return isKept;
  } finally {
    for (const place of Object.values(places)) await stopBenchEstate(place);
  }
}

/** @param {Options} options */
async function benchNpmMetadata({ rounds, count }) {
  const place = await startEstateWithProjects();
  try {
    const { project } = place;
    const manifest = `json_build_object('name', 'large', 'version', version, 'description', 'A package of many versions',
      'dependencies', json_build_object('one', '^1.0.0', 'two', '^2.0.0', 'three', '~3.1.0'), 'engines',
      json_build_object('node', '>=18'))::text`;
    await runOnPackageDatabase(place, [
      `insert into packages (project_id, package_type, name, name_key, version, created_at)
       select ${project}, 'npm', 'large', 'large', '1.0.' || n, now() - n * interval '1 minute'
       from generate_series(1, ${VERSIONS}) n`,
      `insert into package_indexes (project_id, package_type, name_key) values (${project}, 'npm', 'large')`,
      `insert into npm_versions (package_id, project_id, manifest, brief, integrity, shasum)
       select id, project_id, ${manifest}, ${manifest}, 'sha512-' || repeat('a', 86) || '==', repeat('a', 40)
       from packages where name = 'large'`,
      `insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
       select id, project_id, 'large-' || version || '.tgz', 1, repeat('a', 64), '', '' from packages where name = 'large'`,
    ]);
    const path = `/projects/${project}/packages/npm/large`;
    console.log(`p50 in ms of npm metadata with ${VERSIONS} versions (goal ${GOALS.metadataMs})`);
    let isKept = true;
    for (const accept of ['application/json', 'application/vnd.npm.install-v1+json']) {
      const headers = { accept };
      /** @type {number[]} */
      const firsts = [];
      const pids = Object.values(place.estate.pids).filter((pid) => pid !== process.pid);
      await incrementPackageIndexGenerations(place);
      await p50OfReads(place, path, { count: 10, headers });
      const before = cpuSeconds(pids);
      for (let round = 0; round < rounds * 5; round += 1) {
        await incrementPackageIndexGenerations(place);
        firsts.push(await p50OfReads(place, path, { count: 1, headers }));
      }
      const cpu = ((cpuSeconds(pids) - before) / firsts.length) * 1000;
      console.log(`  ${accept.padEnd(40)}CPU of the stack after a change: ${cpu.toFixed(1)} ms`);
      const { etag } = await fetchEtag(place, path, headers);
      const figures = {
        'after a change': median(firsts),
        again: await p50OfReads(place, path, { count, headers }),
        'not modified': await p50OfReads(place, path, { count, headers: { ...headers, 'if-none-match': etag } }),
      };
      for (const [about, ms] of Object.entries(figures)) {
        if (ms > GOALS.metadataMs) isKept = false;
        console.log(
          `${ms > GOALS.metadataMs ? '!' : ' '} ${accept.padEnd(40)}${about.padEnd(18)}${ms.toFixed(2).padStart(8)}`,
        );
      }
    }
    return isKept;
  } finally {
    await stopBenchEstate(place);
  }
}

/** Notes a change of the package, so that its metadata is written again. @param {BenchEstate} place */
async function incrementPackageIndexGenerations({ estate }) {
  const client = new pg.Client({ connectionString: estate.owners['package'] });
  await client.connect();
  await client.query('update package_indexes set generation = generation + 1');
  await client.end();
}

/**
 * @param {BenchEstate} place
 * @param {string} path
 * @param {Record<string, string>} headers
 */
async function fetchEtag({ estate, headers: own }, path, headers) {
  const response = await fetch(`${estate.baseUrl}/api/v4${path}`, { headers: { ...own, ...headers } });
  await response.arrayBuffer();
  const etag = response.headers.get('etag') ?? '';
  const again = await fetch(`${estate.baseUrl}/api/v4${path}`, {
    headers: { ...own, ...headers, 'if-none-match': etag },
  });
  if (again.status !== 304) throw new Error(`the metadata was answered ${again.status} to a client that has it`);
  return { etag };
}

/** @param {Options} options */
async function benchPackageDownload({ rounds }) {
  const place = await startEstateWithProjects();
  const file = join(mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-')), 'file.bin');
  writeFileSync(file, randomBytes(FILE_BYTES));
  const servers = await startStaticServerAndForwarder(file);
  try {
    const path = `/api/v4/projects/${place.project}/packages/generic/large/1.0.0/file.bin`;
    const up = await fetch(place.estate.baseUrl + path, {
      method: 'PUT',
      headers: place.headers,
      body: readFileSync(file),
    });
    if (up.status !== 201) throw new Error(`the upload was answered ${up.status}`);
    const { gateway, package: service } = place.estate.pids;
    const targets = {
      rookery: { origin: place.estate.baseUrl, path, headers: place.headers, pids: [Number(gateway), Number(service)] },
      static: { origin: servers.origin, path: '/', headers: {}, pids: servers.pids },
    };
    /** @type {Record<string, number[]>} */
    const seen = { rookery: [], static: [] };
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, { origin, path: at, headers, pids }] of Object.entries(targets)) {
        const idle = await measureIdleCpu(pids);
        const [from, before] = [performance.now(), cpuSeconds(pids)];
        for (let count = 0; count < DOWNLOADS; count += 1) await downloadWholeFile(origin + at, headers);
        const used = cpuSeconds(pids) - before - (idle * (performance.now() - from)) / 1000;
        if (round >= 0) seen[name]?.push(used / DOWNLOADS);
      }
    }
    const [ours, bare] = [median(seen['rookery'] ?? []), median(seen['static'] ?? [])];
    console.log(
      `CPU seconds of a download of ${FILE_BYTES / 1e6} MB: gateway and package service, and a static server behind a hop`,
    );
    console.log(
      `${ours / bare > GOALS.download ? '!' : ' '} ${ours.toFixed(3)} ${bare.toFixed(3)}   x ${(ours / bare).toFixed(2)} (${GOALS.download})`,
    );
    return ours / bare <= GOALS.download;
  } finally {
    servers.stop();
    rmSync(file, { force: true });
    await stopBenchEstate(place);
  }
}

/**
 * Errors: an answer other than the whole file.
 * @param {string} url
 * @param {Record<string, string>} headers
 */
async function downloadWholeFile(url, headers) {
  const { statusCode, body } = await request(url, { headers });
  let size = 0;
  for await (const chunk of body) size += chunk.length;
  if (statusCode !== 200 || size !== FILE_BYTES)
    throw new Error(`${url} was answered ${statusCode} with ${size} bytes`);
}

/**
 * Starts the static server and the hop before it.
 * @param {string} file
 */
async function startStaticServerAndForwarder(file) {
  const program = fileURLToPath(new URL('static-server.mjs', import.meta.url));
  const ports = { server: await freePort(), hop: await freePort() };
  const start = async (/** @type {string[]} */ words) => {
    const child = fork(program, words, { env: { ...process.env, NODE_ENV: 'production' } });
    await new Promise((resolve, reject) =>
      child.once('message', resolve).once('exit', () => reject(new Error('the static server ended'))),
    );
    return child;
  };
  const children = [
    await start(['file', String(ports.server), file]),
    await start(['hop', String(ports.hop), String(ports.server)]),
  ];
  return {
    origin: `http://127.0.0.1:${ports.hop}`,
    pids: children.map(({ pid }) => Number(pid)),
    stop: () => children.forEach((child) => void child.kill()),
  };
}
