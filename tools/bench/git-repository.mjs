/**
 * `npm run bench -- repository [--count 100]`: p50 of reads of a repository with 100,000 commits and 50,000 files, and of its
 * list of 10,000 branches. The history is pushed as users push it, the branches are written to its files. Goals: a commit
 * list, a page of a tree, a file and a comparison of neighbours take at most 50 ms, the branches 100 ms.
 *
 * The exit code is 1 if a goal is missed.
 *
 * @import { Place } from './git-place.mjs'
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds } from './cpu.mjs';
import { repositoryFolderOf } from '../drills/repositories/git.mjs';
import { endGitPlace, git, startGitBenchEstate, gitUrlWithToken } from './git-place.mjs';
import { load } from './load.mjs';

const COMMITS = 100_000;
/** Folders of ten folders each, so that a change writes small trees. */
const FOLDERS = 500;
const FILES_IN_FOLDER = 100;
const BRANCHES = 10_000;
const MAINTAINED_WITHIN_MS = 180_000;
const GOALS = { read: 50, branches: 100 };
const START = 1_600_000_000;

/** @param {{ count: number }} options */
export async function benchRepository({ count }) {
  const place = await startGitBenchEstate();
  try {
    const { project, ids } = await createLargeRepository(place);
    const base = `/api/v4/projects/${project}/repository`;
    const at = (/** @type {number} */ index) => (index * 7919) % (COMMITS - 1);
    /** @type {Record<string, { goal: number, path: (index: number) => string }>} */
    const reads = {
      'commit list': { goal: GOALS.read, path: (n) => `${base}/commits?ref_name=main&page=${1 + (n % 5)}` },
      'commit list from the middle': { goal: GOALS.read, path: (n) => `${base}/commits?ref_name=${ids[at(n)]}` },
      'page of the root': { goal: GOALS.read, path: (n) => `${base}/tree?ref=main&page=${1 + (n % 3)}` },
      'page of a folder': {
        goal: GOALS.read,
        path: (n) => `${base}/tree?ref=${ids[at(n)]}&path=${generatedFolderPathAt(n)}`,
      },
      file: {
        goal: GOALS.read,
        path: (n) => `${base}/files/${encodeURIComponent(generatedFilePathAt(at(n)))}?ref=main`,
      },
      'raw file': {
        goal: GOALS.read,
        path: (n) => `${base}/files/${encodeURIComponent(generatedFilePathAt(at(n)))}/raw?ref=main`,
      },
      commit: { goal: GOALS.read, path: (n) => `${base}/commits/${ids[at(n)]}` },
      'comparison of neighbours': {
        goal: GOALS.read,
        path: (n) => `${base}/compare?from=${ids[at(n) + 1]}&to=${ids[at(n)]}`,
      },
      branches: { goal: GOALS.branches, path: (n) => `${base}/branches?page=${1 + (n % 5)}` },
      'search for branches': { goal: GOALS.branches, path: (n) => `${base}/branches?search=topic-${n}` },
    };
    console.log('p50 in ms (goal), and CPU ms of the whole stack for one read');
    let isKept = true;
    for (const [name, { goal, path }] of Object.entries(reads)) {
      const next = (/** @type {number} */ n) => ({
        method: /** @type {const} */ ('GET'),
        path: path(n),
        headers: place.headers,
      });
      await load(place.estate.baseUrl, { concurrency: 1, count: 5, next: (n) => next(n + 50) });
      const before = cpuSeconds(place.pids);
      const { p50, bad } = await load(place.estate.baseUrl, { concurrency: 1, count, next });
      const cpu = ((cpuSeconds(place.pids) - before) * 1000) / count;
      if (bad > 0) throw new Error(`${bad} answers about ${name} were not 2xx`);
      if (p50 > goal) isKept = false;
      console.log(
        `${p50 > goal ? '!' : ' '} ${name.padEnd(32)}${p50.toFixed(1).padStart(8)} (${goal})${cpu.toFixed(1).padStart(10)}`,
      );
    }
    return isKept;
  } finally {
    await endGitPlace(place);
  }
}

/** @param {number} index */
const generatedFolderPathAt = (index) => `d${Math.floor((index % FOLDERS) / 10)}/e${index % 10}`;
/** @param {number} index */
const generatedFilePathAt = (index) =>
  `${generatedFolderPathAt(index)}/f${Math.floor(index / FOLDERS) % FILES_IN_FOLDER}.txt`;

/** Input of fast-import: one commit of all files, then commits that change one file each. */
function* generateFastImportStream() {
  yield 'feature done\n';
  for (let n = 0; n < COMMITS; n += 1) {
    const message = n === 0 ? 'All files' : `Change ${generatedFilePathAt(n)}`;
    yield `commit refs/heads/main\ncommitter Bench <bench@mail.example> ${START + n * 60} +0000\ndata ${message.length}\n${message}\n`;
    const files =
      n === 0
        ? Array.from({ length: FOLDERS * FILES_IN_FOLDER }, (_, file) => generatedFilePathAt(file))
        : [generatedFilePathAt(n)];
    for (const file of files) {
      const content = `${file}, version ${n}\n`.repeat(5);
      yield `M 100644 inline ${file}\ndata ${content.length}\n${content}\n`;
    }
  }
  yield 'done\n';
}

/**
 * Resolves to the project and the commits of its main branch, the newest first.
 * @param {Place} place
 */
async function createLargeRepository(place) {
  const work = join(place.folder, 'work');
  mkdirSync(work);
  await git(work, ['init', '--quiet', '--bare', '--initial-branch=main']);
  await git(work, ['fast-import', '--quiet'], generateFastImportStream());
  const ids = (await git(work, ['rev-list', 'main'])).trim().split('\n');
  const { id: project, path_with_namespace: path } = await place.post('/projects', { name: 'large' });
  await git(work, ['push', '--quiet', gitUrlWithToken(place, path), 'main']);
  const folder = repositoryFolderOf(place.estate, project);
  // Without a flush to disk for each of them.
  const topics = Array.from({ length: BRANCHES }, (_, n) => `create refs/heads/topic-${n} ${ids[n * 9]}\n`);
  await git(folder, ['-c', 'core.fsync=none', 'update-ref', '--stdin'], topics);
  await waitUntilRepositoryPacked(place, project, folder);
  return { project: Number(project), ids };
}

/**
 * Waits until the product has packed the repository. A change through the API asks for the measurement that starts it.
 * @param {Place} place
 * @param {number} project
 * @param {string} folder
 */
async function waitUntilRepositoryPacked({ post }, project, folder) {
  // The push alone has started a first packing, without the branches.
  const isDone = () =>
    existsSync(join(folder, 'objects/info/commit-graphs')) &&
    readdirSync(join(folder, 'refs/heads')).length < BRANCHES / 10;
  for (const end = Date.now() + MAINTAINED_WITHIN_MS; !isDone() && Date.now() < end;) {
    await post(`/projects/${project}/repository/branches`, { branch: `late-${Date.now()}`, ref: 'main' });
    await delay(5000);
  }
  console.log(isDone() ? 'The product has packed the repository.' : 'The product has not packed the repository.');
}
