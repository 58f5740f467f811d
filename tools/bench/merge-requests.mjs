/**
 * `npm run bench -- merge-requests [parts of paths] [--rounds 3] [--count 100] [--entries 1000000]`: merge requests of one
 * project in two estates, one with ten thousand rows of merge requests, the other with as many as asked for. Goals: data of
 * other projects increase the p50 of a call by a factor of at most 1.15; the list of 1,000 merge requests takes at most 1.3
 * times as long as the list of 1,000 issues; the first page of the diffs of 3,000 files takes at most a second; a push of 1,000
 * commits ends, and the merge request is right, within two seconds; ten pushes bring ten versions. The exit code is 1 if a goal
 * is missed.
 * Source: docs/performance.md 10.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Estates, Seeded } from './growth.mjs'
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { compareEstateLatencies, benchLatencyRatios, median, startSeededEstates } from './growth.mjs';
import { makePerson, writerOf } from './writer.mjs';

const GROWTH_GOAL = 1.15;
const LIST_GOAL = 1.3;
/** Units: ms. */
const DIFFS_GOAL = 1000;
const PUSH_GOAL = 2000;
/** Merge requests, and issues, of the measured project. */
const OWN = 1000;
const FEW = 10_000;
/** Ids of other resources begin here. */
const OTHERS = 1_000_000;
const BATCH = 100_000;
const FILES = 3000;
const COMMITS = 1000;
const THREADS = 20;
/** V8 optimizes during the first thousands of requests. */
const WARM_REQUESTS = 3000;
const LINES = 200;

const REQUESTS = '/projects/PROJECT/merge_requests';
const HELD = [
  REQUESTS,
  `${REQUESTS}?state=opened`,
  `${REQUESTS}?state=merged`,
  `${REQUESTS}?labels=Label 3`,
  `${REQUESTS}?author_id=READER`,
  `${REQUESTS}?order_by=updated_at`,
  `${REQUESTS}?target_branch=main&per_page=100`,
  '/groups/GROUP/merge_requests',
  '/merge_requests',
  `${REQUESTS}/WIDE`,
  `${REQUESTS}/WIDE/diffs`,
  `${REQUESTS}/WIDE/commits`,
  `${REQUESTS}/PUSHED/notes`,
  `${REQUESTS}/PUSHED/discussions`,
];

/** A clone with which the benchmark pushes. */
class BenchClone {
  folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-clone-'));

  /** @param {string} url */
  constructor(url) {
    this.git(['init', '--quiet', '--initial-branch', 'main']);
    this.git(['remote', 'add', 'origin', url]);
  }

  /**
   * @param {string[]} words
   * @param {string} [input]
   */
  git(words, input = '') {
    const env = { PATH: process.env['PATH'], HOME: this.folder, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' };
    return execFileSync('git', words, { cwd: this.folder, env, input, maxBuffer: 2 ** 28, stdio: 'pipe' })
      .toString()
      .trim();
  }

  /**
   * Writes commits to a branch. `commits` maps paths to contents of files, for each commit. Returns the id of the last
   * one.
   * @param {string} branch
   * @param {string | null} from
   * @param {Record<string, string>[]} commits
   */
  write(branch, from, commits) {
    const texts = commits.map((files, n) => {
      const start = n === 0 && from !== null ? `from ${from}\n` : '';
      const parts = Object.entries(files).map(
        ([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
      );
      return `commit refs/heads/${branch}\ncommitter Bench <bench@mail.example> ${1_700_000_000 + n} +0000\ndata 1\nx\n${start}${parts.join('')}`;
    });
    this.git(['fast-import', '--quiet', '--force'], texts.join(''));
    return this.git(['rev-parse', `refs/heads/${branch}`]);
  }

  /** @param {string} branch */
  push(branch) {
    this.git(['push', '--quiet', 'origin', `refs/heads/${branch}:refs/heads/${branch}`]);
  }
}

/**
 * Creates the project with its code, and `total` rows of merge requests altogether.
 * @param {Estate} estate
 * @param {number} total
 * @returns {Promise<Seeded & { clone: BenchClone }>}
 */
async function seedMergeRequests(estate, total) {
  const post = writerOf(estate);
  const reader = await makePerson(post, 'reader');
  const { id: group } = await post('/groups', { name: 'growth', path: 'growth' });
  const project = await post('/projects', { name: 'growth', namespace_id: group });
  await post(`/groups/${group}/members`, { user_id: reader.id, access_level: 40 });
  const url = new URL(`${estate.baseUrl}/${project.path_with_namespace}.git`);
  [url.username, url.password] = ['oauth2', estate.token];
  const clone = new BenchClone(url.href);
  const main = clone.write('main', null, [{ 'README.md': 'Bench\n' }]);
  const textOf = (/** @type {number} */ file) =>
    Array.from({ length: LINES }, (_, n) => `line ${n} of file ${file}\n`).join('');
  const wide = Array.from({ length: FILES }, (_, n) => [`src/part-${n % 30}/file-${n}.txt`, textOf(n)]);
  clone.write('wide', main, [Object.fromEntries(wide)]);
  clone.write('pushed', main, [{ 'code.txt': textOf(0) }]);
  for (const branch of ['main', 'wide', 'pushed']) clone.push(branch);
  const open = (/** @type {string} */ branch) =>
    post(`/projects/${project.id}/merge_requests`, { source_branch: branch, target_branch: 'main', title: branch });
  const [{ iid: wideIid }, { iid: pushedIid, diff_refs: refs }] = [await open('wide'), await open('pushed')];
  for (let n = 1; n <= THREADS; n += 1) {
    const position = { ...refs, position_type: 'text', new_path: 'code.txt', new_line: n };
    await post(`/projects/${project.id}/merge_requests/${pushedIid}/discussions`, { body: `Line ${n}`, position });
  }
  const client = new pg.Client({ connectionString: estate.owners['collaboration'] });
  await client.connect();
  await client.query('set synchronous_commit = off');
  await insertLabelsMilestonesAndIssues(client, project.id);
  await insertMergeRequests(client, { from: 1, to: OWN, project: `${project.id}`, reader: reader.id });
  for (let from = OWN + 1; from <= total; from += BATCH) {
    const to = Math.min(total, from + BATCH - 1);
    await insertMergeRequests(client, { from, to, project: `${OTHERS} + n / ${OWN}`, reader: OTHERS });
  }
  await client.query('vacuum analyze');
  await client.end();
  const words = { PROJECT: project.id, GROUP: group, READER: reader.id, WIDE: wideIid, PUSHED: pushedIid };
  return { reader, words, clone };
}

/**
 * Creates the labels, milestones and issues of the project.
 * @param {pg.Client} client
 * @param {number} project
 */
async function insertLabelsMilestonesAndIssues(client, project) {
  await client.query(
    `insert into labels (id, project_id, title, description_html, color, text_color)
     select n, $1, 'Label ' || n, '', '#ff0000', '#ffffff' from generate_series(1, 200) n`,
    [project],
  );
  await client.query(
    `insert into milestones (id, project_id, iid, title) select n, $1, n, 'v' || n from generate_series(1, 200) n`,
    [project],
  );
  const numbers = `generate_series(1, ${OWN}) n`;
  for (const statement of [
    `insert into issues (id, project_id, iid, author_id, title, description, milestone_id, created_at, updated_at)
       overriding system value
     select n + ${OTHERS}, ${project}, n, 1, 'Issue number ' || n, 'Something about ' || n,
       case when n % 4 = 0 then 1 + n % 100 end, now() - n * interval '1 minute', now() - n * interval '1 second'
     from ${numbers}`,
    `insert into issue_assignees (issue_id, user_id, position) select n + ${OTHERS}, 1, 1 from ${numbers} where n % 2 = 0`,
    `insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select 'Issue', n + ${OTHERS}, 1 + n % 100, ${project} from ${numbers} where n % 3 > 0`,
  ])
    await client.query(statement);
}

/**
 * Creates merge requests with their attached rows, by number. Those of the project have labels 1 to 100. `project` is an SQL
 * expression over `n`; the reader is the author of a tenth.
 * @param {pg.Client} client
 * @param {{ from: number, to: number, project: string, reader: number }} options
 */
async function insertMergeRequests(client, { from, to, project, reader }) {
  const numbers = `generate_series(${from}::bigint, ${to}::bigint) n`;
  const user = `case when n % 10 = 0 then ${reader}::bigint else 1 end`;
  const sha = `lpad(to_hex(n), 40, '0')`;
  for (const statement of [
    `insert into merge_requests (id, project_id, source_project_id, iid, author_id, title, description, state, closed_at,
       merged_at, merged_by_id, source_branch, target_branch, milestone_id, merge_status, head_sha, base_sha, start_sha,
       published_sha, files_count, commits_count, created_at, updated_at) overriding system value
     select n + ${OTHERS}, ${project}, ${project}, 100 + n, ${user}, 'Change number ' || n, 'Something about ' || n,
       case n % 5 when 0 then 'merged' when 1 then 'closed' else 'opened' end, case when n % 5 = 1 then now() end,
       case when n % 5 = 0 then now() end, case when n % 5 = 0 then 1 end, 'branch-' || n, 'main',
       case when n % 4 = 0 and n <= ${OWN} then 1 + n % 100 end, 'can_be_merged', ${sha}, ${sha}, ${sha}, ${sha}, 3, 2,
       now() - n * interval '1 minute', now() - n * interval '1 second'
     from ${numbers}`,
    `insert into merge_request_assignees (merge_request_id, user_id, position)
     select n + ${OTHERS}, ${user}, 1 from ${numbers} where n % 2 = 0`,
    `insert into merge_request_reviewers (merge_request_id, user_id, position)
     select n + ${OTHERS}, ${user}, 1 from ${numbers} where n % 5 = 0`,
    `insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select 'MergeRequest', n + ${OTHERS}, ${from === 1 ? 1 : 101} + n % 100, ${project} from ${numbers} where n % 3 > 0`,
    `insert into merge_request_versions (merge_request_id, head_sha, base_sha, start_sha, files_count, commits_count)
     select n + ${OTHERS}, ${sha}, ${sha}, ${sha}, 3, 2 from ${numbers}`,
  ])
    await client.query(statement);
}

/** @typedef {Awaited<ReturnType<typeof seedMergeRequests>> & { baseUrl: string, estate: Estate }} SeededPlace */

/**
 * @param {SeededPlace} place
 * @param {string} path
 * @returns {Promise<{ ms: number, body: any }>}
 */
async function fetchTimedMergeRequest({ baseUrl, reader, words }, path) {
  const from = performance.now();
  const response = await fetch(`${baseUrl}/api/v4/projects/${words['PROJECT']}/merge_requests/${path}`, {
    headers: { 'private-token': reader.token },
  });
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  const body = await response.json();
  return { ms: performance.now() - from, body };
}

/**
 * Pushes to the source branch, and waits until the merge request is right. Returns the duration of the push, and the
 * time from its end until then. Units: ms. Errors: it is not right within half a minute.
 * @param {SeededPlace} place
 * @param {Record<string, string>[]} commits
 */
async function pushUntilMergeRequestUpdated(place, commits) {
  const { clone, words } = place;
  const head = clone.write('pushed', 'refs/heads/pushed^0', commits);
  const from = performance.now();
  clone.push('pushed');
  const pushed = performance.now();
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(20)) {
    const { body } = await fetchTimedMergeRequest(place, `${words['PUSHED']}`);
    if (body.sha !== head || body.diff_refs.head_sha !== head || body.detailed_merge_status !== 'mergeable') continue;
    return { pushMs: pushed - from, rightMs: performance.now() - pushed };
  }
  throw new Error(`the merge request does not show ${head}`);
}

/**
 * @param {SeededPlace} place
 * @param {string} fromClause
 */
async function countCollaborationRows({ estate }, fromClause) {
  const client = new pg.Client({ connectionString: estate.owners['collaboration'] });
  await client.connect();
  const { rows } = await client.query(`select count(*)::int as count from ${fromClause}`);
  await client.end();
  return Number(rows[0].count);
}

/**
 * Measures pushes of many commits, and many pushes. Resolves to whether all goals are met.
 * @param {SeededPlace} place
 * @param {number} rounds
 */
async function measurePushes(place, rounds) {
  const versions = () =>
    countCollaborationRows(
      place,
      `merge_request_versions v join merge_requests i on i.id = v.merge_request_id where i.title = 'pushed'`,
    );
  const outdated = () => countCollaborationRows(place, 'note_positions where not is_active');
  const pushes = () => countCollaborationRows(place, 'pushes');
  const before = { versions: await versions(), pushes: await pushes() };
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const commits = Array.from({ length: COMMITS }, (_, n) => ({ [`added-${n % 100}.txt`]: `${round} ${n}\n` }));
    if (round === 0) commits.push({ 'code.txt': 'other\n' });
    times.push(await pushUntilMergeRequestUpdated(place, commits));
  }
  const after = { versions: await versions(), pushes: await pushes(), outdated: await outdated() };
  const isCounted =
    after.versions - before.versions === rounds &&
    after.pushes - before.pushes === rounds &&
    after.outdated === THREADS;
  const pushMs = median(times.map((one) => one.pushMs));
  const wholeMs = median(times.map((one) => one.pushMs + one.rightMs));
  console.log(
    `push of ${COMMITS} commits: right after ${wholeMs.toFixed(0)} ms (goal ${PUSH_GOAL}), ${pushMs.toFixed(0)} of them git's;` +
      ` versions, pushes and outdated threads ${isCounted ? 'right' : `wrong: ${JSON.stringify({ before, after })}`}`,
  );
  const from = performance.now();
  for (let n = 0; n < 10; n += 1) await pushUntilMergeRequestUpdated(place, [{ 'last.txt': `${n}\n` }]);
  const ms = performance.now() - from;
  const all = (await versions()) - after.versions;
  console.log(`ten pushes, each of them read: ${ms.toFixed(0)} ms, ${all} versions`);
  return isCounted && wholeMs <= PUSH_GOAL && all === 10;
}

/**
 * Runs the benchmark. Resolves to whether every goal was met. `words` select calls by parts of their paths.
 * @param {{ words: string[], rounds: number, count: number, entries: number }} options
 */
export async function benchMergeRequests({ words, rounds, count: requests, entries }) {
  /** @type {BenchClone[]} */
  const clones = [];
  const { estates, end } = await startSeededEstates({ few: FEW, many: entries }, async (estate, total) => {
    const place = await seedMergeRequests(estate, total);
    clones.push(place.clone);
    return { ...place, estate };
  });
  try {
    const few = /** @type {SeededPlace} */ (/** @type {unknown} */ (estates['few']));
    const first = await fetchTimedMergeRequest(few, `${few.words['WIDE']}/diffs?per_page=20`);
    console.log(
      `first page of the diffs of ${FILES} files, first read: ${first.ms.toFixed(0)} ms (goal ${DIFFS_GOAL})`,
    );
    let isKept = first.ms <= DIFFS_GOAL && first.body.length === 20;
    const kinds = Object.fromEntries(
      ['issues', 'merge_requests'].map((kind) => [kind, { ...few, words: { ...few.words, KIND: kind } }]),
    );
    for (const query of ['', '?per_page=100', '?state=opened']) {
      const target = `/projects/PROJECT/KIND${query}`;
      await compareEstateLatencies(kinds, target, { rounds: 1, count: 20 });
      const { issues = 0, merge_requests: own = 0 } = await compareEstateLatencies(kinds, target, {
        rounds,
        count: requests,
      });
      if (own / issues > LIST_GOAL) isKept = false;
      console.log(
        `list${query}: issues ${issues.toFixed(2)} ms, merge requests ${own.toFixed(2)} ms, x ${(own / issues).toFixed(2)} (goal ${LIST_GOAL})`,
      );
    }
    console.log(`p50 in ms with ${FEW} and ${entries} merge requests, and their ratio (goal ${GROWTH_GOAL})`);
    // The lists above have warmed one of the estates only.
    await compareEstateLatencies(estates, REQUESTS, { rounds: 1, count: WARM_REQUESTS });
    isKept = (await benchLatencyRatios(estates, HELD, { goal: GROWTH_GOAL, words, rounds, count: requests })) && isKept;
    // Afterwards, because it adds notes and versions in one of the estates.
    return (await measurePushes(few, 3)) && isKept;
  } finally {
    await end();
    for (const { folder } of clones) rmSync(folder, { recursive: true, force: true });
  }
}
