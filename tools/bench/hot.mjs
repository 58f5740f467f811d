/**
 * `npm run bench -- hot [--rounds 3] [--seconds 30] [--concurrency 100] [--against <checkout>]`: many users write notes to one
 * issue at the same time, so each is notified of the notes of all others; before that, each writes to an own issue. With
 * `--against` the same is done with another checkout (built and installed), in turn. Each turn has a new estate, so that
 * unfinished work does not slow the next turn. The benchmark counts answers other than 2xx, and errors of the issue's
 * counter. The exit code is 1 if this checkout has any.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {{ estate: Estate, tokens: string[], project: number, pids: number[], database: pg.Client,
 *   end(): Promise<void> }} HotEstate
 * @typedef {{ rate: number, p50: number, p99: number, bad: number, cpu: number }} NotesRow
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { loadStartEstate } from './checkout.mjs';
import { cpuSeconds, waitUntilCpuIdle } from './cpu.mjs';
import { WITHOUT_RATES } from '../processes/environment.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { freePort } from '../processes/process-records.mjs';
import { load } from './load.mjs';
import { makePerson, writerOf } from './writer.mjs';

const ROOM = { ...WITHOUT_RATES, NOTES_CREATES_PER_MINUTE_COUNT: '0', NOTES_PER_NOTEABLE_COUNT: '1000000' };

/** CPU use, in cores, below which effects and e-mails are finished. */
const MOST_AT_REST = 0.3;

/**
 * Starts an estate of a checkout with users and their issues; all users write to the first issue.
 * @param {string} checkout
 * @param {number} people
 * @returns {Promise<HotEstate>}
 */
async function startHotIssueEstate(checkout, people) {
  const startEstate = await loadStartEstate(checkout);
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: ROOM });
  const post = writerOf(estate);
  /** @type {string[]} */
  const tokens = [];
  for (let n = 0; n < people; n += 1) tokens.push((await makePerson(post, `hot${n}`)).token);
  const { id: project } = await post('/projects', { name: 'hot', visibility: 'public' });
  for (let n = 0; n <= people; n += 1) await post(`/projects/${project}/issues`, { title: `Issue ${n}` });
  const { supervisor: _, ...stack } = estate.pids;
  const database = new pg.Client({ connectionString: estate.databases['collaboration'] });
  await database.connect();
  const end = async () => {
    await database.end();
    await estate.stop();
    await estate.discard();
  };
  return { estate, tokens, project, pids: Object.values(stack), database, end };
}

/**
 * Writes notes; `at(n)` is the issue to which the n-th user writes. `cpu` is the CPU time used meanwhile.
 * @param {HotEstate} place
 * @param {number} seconds
 * @param {(n: number) => number} at
 * @returns {Promise<NotesRow>}
 */
async function measureNoteWrites({ estate, tokens, project, pids }, seconds, at) {
  /** @type {(n: number) => import('./load.mjs').Request} */
  const next = (n) => ({
    method: 'POST',
    path: `/api/v4/projects/${project}/issues/${at(n % tokens.length)}/notes`,
    headers: { 'private-token': tokens[n % tokens.length] ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ body: `What was seen, and what might be done next, number ${n}` }),
  });
  const before = cpuSeconds(pids);
  const { count, p50, p99, bad, ...took } = await load(estate.baseUrl, { concurrency: tokens.length, seconds, next });
  const used = cpuSeconds(pids) - before;
  return { rate: count / took.seconds, p50, p99, bad, cpu: (used / count) * 1000 };
}

/**
 * Error of the issue's counter, plus one if its time of the last update is wrong.
 * @param {HotEstate} place
 */
async function countNoteCounterErrors({ database, project }) {
  const { rows } = await database.query(
    `select abs(i.public_notes_count - count(n.id)::integer) + (i.updated_at < max(n.created_at))::integer as wrong
     from issues i join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue' and not n.system
     where i.project_id = $1 and i.iid = 1 group by i.id`,
    [project],
  );
  return rows[0].wrong;
}

/**
 * @param {string} where
 * @param {string} name
 * @param {NotesRow} row
 */
function printRow(where, name, { rate, p50, p99, cpu, bad }) {
  const figures = [rate.toFixed(0), p50.toFixed(0), p99.toFixed(0), cpu.toFixed(2), bad];
  console.log(where.padEnd(9), name.padEnd(8), figures.map((one) => String(one).padStart(9)).join(' '));
}

/**
 * One turn of one checkout.
 * @param {string} name
 * @param {string} checkout
 * @param {{ seconds: number, concurrency: number }} options
 */
async function benchNoteWritesOfCheckout(name, checkout, { seconds, concurrency }) {
  const here = await startHotIssueEstate(checkout, concurrency);
  try {
    await measureNoteWrites(here, 2, (n) => n + 2);
    printRow('separate', name, await measureNoteWrites(here, seconds / 3, (n) => n + 2));
    await waitUntilCpuIdle(here.pids, MOST_AT_REST);
    const row = await measureNoteWrites(here, seconds, () => 1);
    printRow('one', name, row);
    return { ...row, wrong: await countNoteCounterErrors(here) };
  } finally {
    await here.end();
  }
}

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Runs the benchmark. Resolves to whether no request was refused and no note was miscounted.
 * @param {{ root: string, against: string | undefined, rounds: number, seconds: number, concurrency: number }} options
 */
export async function benchBusyIssueNotes({ root, against, rounds, seconds, concurrency }) {
  /** @type {Record<string, string>} */
  const checkouts = { rookery: root, ...(against ? { other: against } : {}) };
  /** @type {Record<string, (NotesRow & { wrong: number })[]>} */
  const rows = Object.fromEntries(Object.keys(checkouts).map((name) => [name, []]));
  console.log('          target     notes/s   p50 ms   p99 ms   CPU s/1,000   not 2xx');
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, checkout] of Object.entries(checkouts))
      rows[name]?.push(await benchNoteWritesOfCheckout(name, checkout, { seconds, concurrency }));
  }
  if (against) {
    const ratios = (rows['rookery'] ?? []).map(({ rate }, round) => rate / (rows['other']?.[round]?.rate ?? NaN));
    const each = ratios.map((one) => one.toFixed(2)).join(' ');
    console.log(`compared with the other checkout: x ${median(ratios).toFixed(2)} (${each})`);
  }
  /** @type {(name: string, field: 'bad' | 'wrong') => number} */
  const sum = (name, field) => (rows[name] ?? []).reduce((total, row) => total + row[field], 0);
  for (const name of Object.keys(checkouts))
    console.log(`${name}: not 2xx ${sum(name, 'bad')}, miscounted ${sum(name, 'wrong')}`);
  return sum('rookery', 'bad') + sum('rookery', 'wrong') === 0;
}
