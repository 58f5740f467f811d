/**
 * `npm run bench -- git [transfers|reads|memory] [--rounds 3] [--count 100]`: costs of repositories.
 *
 * - transfers: CPU time of the whole stack for a clone and a push of 100 MB, compared with `git http-backend` behind a bare
 *   HTTP server (git-server.mjs) in turn. Goal: a factor of at most 1.25. After a push, the measurement goes on until the
 *   stack is idle. The figure for pushes that the bare server checks with fsck, as the product does, has no goal.
 * - reads: CPU time of the whole stack for one file, a page of a tree and one commit, compared with one `git cat-file
 *   --batch` behind the bare server. Goal: a factor of at most 3.
 * - memory: growth of the resident memory of gateway and collaboration during 20 clones of 100 MB at a time, after one such
 *   clone. Goal: less than 64 MiB each.
 *
 * The exit code is 1 if a goal is missed.
 *
 * @import { Place } from './git-place.mjs'
 * @typedef {{ rounds: number, count: number }} Options
 * @typedef {{ bare: string, port: number, pid: number, stop(): void, project: { id: number, path: string } }} GitSides
 * @typedef {{ pids: number[], makeAddress(): Promise<string>, run(address: string): Promise<unknown>, seen: number[], shares: number[][] }} Transfer
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../processes/process-records.mjs';
import { cpuSeconds, measureIdleCpu, waitUntilCpuIdle } from './cpu.mjs';
import { endGitPlace, git, median, startGitBenchEstate, gitUrlWithToken } from './git-place.mjs';
import { load } from './load.mjs';

const FILES = 10;
const FILE_BYTES = 10_000_000;
const SMALL_FILES = 200;
const SMALL_BYTES = 4000;
/** Transfers of one measurement, so that the noise of idle processes is small compared with their cost. */
const TRANSFERS = 3;
/** V8 optimizes during the first thousands of requests. Units: seconds. */
const WARM_SECONDS = 5;
const CLONES = 20;
const MIB = 1024 ** 2;
const GOALS = { transfer: 1.25, read: 3, memoryMib: 64 };
const PARTS = { transfers: benchGitTransfers, reads: benchRepositoryReads, memory: benchMemoryOfParallelClones };

/**
 * Runs the benchmark, or the parts that `words` name. Resolves to whether every goal was met.
 * @param {Options & { words: string[] }} options
 */
export async function benchGit({ words, ...options }) {
  const place = await startGitBenchEstate();
  /** @type {GitSides | undefined} */
  let sides;
  let isKept = true;
  try {
    sides = await createProductAndBareRepositories(place);
    for (const [name, part] of Object.entries(PARTS))
      if (words.length === 0 || words.includes(name)) isKept = (await part(place, sides, options)) && isKept;
    return isKept;
  } finally {
    sides?.stop();
    await endGitPlace(place);
  }
}

/**
 * Writes a repository of 100 MB that does not compress, and of small files, to both sides.
 * @param {Place} place
 * @returns {Promise<GitSides>}
 */
async function createProductAndBareRepositories(place) {
  const work = join(place.folder, 'work');
  mkdirSync(join(work, 'small'), { recursive: true });
  await git(work, ['init', '--quiet', '--initial-branch=main']);
  for (let n = 0; n < FILES; n += 1) writeFileSync(join(work, `large-${n}`), randomBytes(FILE_BYTES));
  for (let n = 0; n < SMALL_FILES; n += 1)
    writeFileSync(join(work, 'small', `f${String(n).padStart(3, '0')}`), `line ${n}\n`.repeat(SMALL_BYTES / 10));
  await git(work, ['add', '.']);
  await git(work, ['commit', '--quiet', '--message', 'Large']);
  const bare = join(place.folder, 'bare');
  mkdirSync(bare);
  // Over git's protocol, so that the copy is one pack as after a push. A local clone copies loose objects.
  await git(place.folder, ['clone', '--quiet', '--bare', '--no-local', 'work', join(bare, 'large.git')]);
  const project = await createEmptyProject(place, 'large');
  await git(work, ['push', '--quiet', gitUrlWithToken(place, project.path), 'main']);
  const port = await freePort();
  const child = fork(fileURLToPath(new URL('git-server.mjs', import.meta.url)), [String(port), bare], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  await new Promise((resolve, reject) =>
    child.once('message', resolve).once('exit', () => reject(new Error('the bare server ended'))),
  );
  return { bare, port, pid: Number(child.pid), stop: () => void child.kill(), project };
}

/**
 * @param {Place} place
 * @param {string} name
 */
async function createEmptyProject({ post }, name) {
  const made = await post('/projects', { name });
  return { id: Number(made.id), path: String(made.path_with_namespace) };
}

/**
 * CPU seconds that processes use for a step and what follows from it, without their idle work.
 * @param {number[]} pids
 * @param {() => Promise<unknown>} step
 */
async function cpuSecondsOfStep(pids, step) {
  const idle = await measureIdleCpu(pids);
  const [from, before] = [performance.now(), cpuSeconds(pids)];
  await step();
  await waitUntilCpuIdle(pids, idle);
  return cpuSeconds(pids) - before - (idle * (performance.now() - from)) / 1000;
}

/**
 * Prints medians and their ratio. Returns whether the ratio meets the goal.
 * @param {string} about
 * @param {number[]} ours
 * @param {number[]} bare
 * @param {number} [goal]
 */
function printComparison(about, ours, bare, goal) {
  const ratio = median(ours) / median(bare);
  const isKept = goal === undefined || ratio <= goal;
  const cells = [median(ours), median(bare)].map((seconds) => (seconds * 1000).toFixed(1).padStart(10));
  const shown = goal === undefined ? '' : ` (${goal})`;
  console.log(`${isKept ? ' ' : '!'} ${about.padEnd(40)}${cells.join('')}   x ${ratio.toFixed(2)}${shown}`);
  return isKept;
}

/**
 * @param {Place} place
 * @param {GitSides} sides
 */
function createGitTransfers(place, { bare, port, pid, project }) {
  const work = join(place.folder, 'work');
  const origin = `http://127.0.0.1:${port}`;
  let at = 0;
  const clone = async (/** @type {string} */ url) =>
    git(place.folder, ['clone', '--quiet', '--bare', url, `clones/${at++}`]);
  const push = async (/** @type {string} */ url) => git(work, ['push', '--quiet', url, 'main']);
  const makeBare = async (/** @type {string} */ prefix) => {
    const name = `pushes/${at++}.git`;
    await git(bare, ['init', '--quiet', '--bare', name]);
    return `${origin}${prefix}/${name}`;
  };
  const makeOurs = async () => gitUrlWithToken(place, (await createEmptyProject(place, `push-${at++}`)).path);
  /** @type {Record<string, Transfer>} */
  const transfers = {
    clone: {
      pids: place.pids,
      makeAddress: async () => gitUrlWithToken(place, project.path),
      run: clone,
      seen: [],
      shares: [],
    },
    cloneBare: { pids: [pid], makeAddress: async () => `${origin}/large.git`, run: clone, seen: [], shares: [] },
    push: { pids: place.pids, makeAddress: makeOurs, run: push, seen: [], shares: [] },
    pushBare: { pids: [pid], makeAddress: () => makeBare(''), run: push, seen: [], shares: [] },
    pushChecked: { pids: [pid], makeAddress: () => makeBare('/checked'), run: push, seen: [], shares: [] },
  };
  return transfers;
}

/**
 * @param {Place} place
 * @param {GitSides} sides
 * @param {Options} options
 */
async function benchGitTransfers(place, sides, { rounds }) {
  const transfers = createGitTransfers(place, sides);
  for (let round = -1; round < rounds; round += 1) {
    for (const { pids, makeAddress, run, seen, shares } of Object.values(transfers)) {
      /** @type {string[]} */
      const addresses = [];
      for (let n = 0; n < TRANSFERS; n += 1) addresses.push(await makeAddress());
      const before = pids.map((one) => cpuSeconds([one]));
      const seconds = await cpuSecondsOfStep(pids, async () => {
        for (const address of addresses) await run(address);
      });
      const used = pids.map((one, n) => (cpuSeconds([one]) - (before[n] ?? 0)) / TRANSFERS);
      // The first round warms up.
      if (round >= 0) seen.push(seconds / TRANSFERS);
      if (round >= 0) shares.push(used);
      for (const folder of [join(place.folder, 'clones'), join(sides.bare, 'pushes')])
        rmSync(folder, { recursive: true, force: true });
    }
  }
  const seen = (/** @type {string} */ name) => transfers[name]?.seen ?? [];
  console.log(
    `CPU ms of the whole stack for ${(FILES * FILE_BYTES) / 1e6} MB, of git http-backend, and their ratio (goal)`,
  );
  const isCloneKept = printComparison('clone', seen('clone'), seen('cloneBare'), GOALS.transfer);
  const isPushKept = printComparison('push', seen('push'), seen('pushBare'), GOALS.transfer);
  printComparison('push, checked with fsck on both sides', seen('push'), seen('pushChecked'));
  for (const name of ['clone', 'push']) printCpuByProcess(name, place, transfers[name]?.shares ?? []);
  return isCloneKept && isPushKept;
}

/**
 * Prints the CPU time of each process with its children, including idle work.
 * @param {string} about
 * @param {Place} place
 * @param {number[][]} rounds  seconds by process
 */
function printCpuByProcess(about, { pids, estate }, rounds) {
  const names = pids.map((pid) => Object.entries(estate.pids).find(([, one]) => one === pid)?.[0]);
  const used = names.map((name, n) => `${name} ${(median(rounds.map((row) => row[n] ?? 0)) * 1000).toFixed(0)}`);
  console.log(`  ${about} by process: ${used.join(', ')}`);
}

/**
 * @param {Place} place
 * @param {GitSides} sides
 * @param {Options} options
 */
async function benchRepositoryReads(place, { port, pid, project }, { rounds, count }) {
  const base = `/api/v4/projects/${project.id}/repository`;
  const fileAt = (/** @type {number} */ index) => `small/f${String(index % SMALL_FILES).padStart(3, '0')}`;
  const reads = {
    file: {
      ours: (/** @type {number} */ n) => `${base}/files/${encodeURIComponent(fileAt(n))}?ref=main`,
      bare: (/** @type {number} */ n) => `/file?rev=main:${fileAt(n)}`,
    },
    'page of a tree': { ours: () => `${base}/tree?ref=main&path=small`, bare: () => '/tree?rev=main:small' },
    commit: { ours: () => `${base}/commits/main?stats=false`, bare: () => '/commit?rev=main' },
  };
  console.log('CPU ms of the whole stack for 1,000 reads, of git cat-file --batch, and their ratio (goal)');
  let isKept = true;
  for (const [name, paths] of Object.entries(reads)) {
    const targets = {
      ours: { origin: place.estate.baseUrl, pids: place.pids, headers: place.headers },
      bare: { origin: `http://127.0.0.1:${port}`, pids: [pid], headers: {} },
    };
    /** @type {Record<'ours' | 'bare', number[]>} */
    const seen = { ours: [], bare: [] };
    for (let round = -1; round < rounds; round += 1) {
      for (const side of /** @type {const} */ (['ours', 'bare'])) {
        const { origin, pids, headers } = targets[side];
        const next = (/** @type {number} */ n) => ({
          method: /** @type {const} */ ('GET'),
          path: paths[side](n),
          headers,
        });
        const read = async (/** @type {{ count?: number, seconds?: number }} */ most) => {
          const { bad } = await load(origin, { concurrency: 4, ...most, next });
          if (bad > 0) throw new Error(`${bad} reads of ${name} were not answered with 2xx`);
        };
        if (round < 0) await read({ seconds: WARM_SECONDS });
        else seen[side].push(((await cpuSecondsOfStep(pids, () => read({ count }))) / count) * 1000);
      }
    }
    isKept = printComparison(name, seen.ours, seen.bare, GOALS.read) && isKept;
  }
  return isKept;
}

/**
 * @param {Place} place
 * @param {GitSides} sides
 */
async function benchMemoryOfParallelClones(place, { project }) {
  const url = gitUrlWithToken(place, project.path);
  const watched = /** @type {const} */ (['gateway', 'collaboration']);
  const residentMib = (/** @type {'gateway' | 'collaboration'} */ name) => {
    const status = readFileSync(`/proc/${place.estate.pids[name]}/status`, 'utf8');
    return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / MIB;
  };
  await git(place.folder, ['clone', '--quiet', '--bare', url, 'first']);
  const before = watched.map(residentMib);
  const peaks = [...before];
  const timer = setInterval(() => {
    for (const [at, name] of watched.entries()) peaks[at] = Math.max(peaks[at] ?? 0, residentMib(name));
  }, 20);
  const names = Array.from({ length: CLONES }, (_, n) => `parallel-${n}`);
  try {
    await Promise.all(names.map((name) => git(place.folder, ['clone', '--quiet', '--bare', url, name])));
  } finally {
    clearInterval(timer);
  }
  const growth = peaks.map((peak, at) => peak - (before[at] ?? 0));
  console.log(`MiB that resident memory grows by during ${CLONES} clones at a time (goal ${GOALS.memoryMib})`);
  for (const [at, name] of watched.entries()) {
    const mark = (growth[at] ?? 0) < GOALS.memoryMib ? ' ' : '!';
    console.log(`${mark} ${name.padEnd(40)}${(growth[at] ?? 0).toFixed(1).padStart(10)}`);
  }
  return growth.every((mib) => mib < GOALS.memoryMib);
}
