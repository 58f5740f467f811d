/**
 * `npm run bench -- hot [--rounds 3] [--seconds 30] [--concurrency 100] [--against <checkout>]`: as many people as there
 * are clients write notes to one issue at once, so each is told of the notes of all others; before it each writes to an
 * issue of their own. With `--against` the estate of another checkout (built and installed) is written to in turn. Each
 * turn has a fresh estate: what one leaves to be done does not slow the next. Counted are answers that are not 2xx, and
 * whether the counter says what there is. The exit code is 1 when anything of that is wrong with ours.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { cpuSeconds, quiet } from './cpu.mjs';
import { WITHOUT_RATES } from '../estate/environment.mjs';
import { sharedTemporary } from '../estate/postgres-files.mjs';
import { freePort } from '../estate/processes.mjs';
import { load } from './load.mjs';
import { makePerson, writerOf } from './writer.mjs';

const ROOM = { ...WITHOUT_RATES, NOTES_CREATES_PER_MINUTE_COUNT: '0', NOTES_PER_NOTEABLE_COUNT: '1000000' };

/** Of a core; effects and e-mails follow for a while. */
const MOST_AT_REST = 0.3;

/** An estate of a checkout with its people and their issues: the first is written to by all. */
async function place(checkout, people) {
  const { startEstate } = await import(pathToFileURL(join(checkout, 'tools/estate/estate.mjs')));
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: ROOM });
  const post = writerOf(estate);
  const tokens = [];
  for (let n = 0; n < people; n += 1) tokens.push((await makePerson(post, `hot${n}`)).token);
  const { id: project } = await post('/projects', { name: 'hot', visibility: 'public' });
  for (let n = 0; n <= people; n += 1) await post(`/projects/${project}/issues`, { title: `Issue ${n}` });
  const { supervisor: _, ...stack } = estate.pids;
  const database = new pg.Client({ connectionString: estate.databases.collaboration });
  await database.connect();
  const end = async () => {
    await database.end();
    await estate.stop();
    await estate.discard();
  };
  return { estate, tokens, project, pids: Object.values(stack), database, end };
}

/** Shape: `at(n)` is the issue that the n-th person writes to. CPU is that of the time while they write. */
async function write({ estate, tokens, project, pids }, seconds, at) {
  const next = (n) => ({
    method: 'POST',
    path: `/api/v4/projects/${project}/issues/${at(n % tokens.length)}/notes`,
    headers: { 'private-token': tokens[n % tokens.length], 'content-type': 'application/json' },
    body: JSON.stringify({ body: `What was seen, and what might be done next, number ${n}` }),
  });
  const before = cpuSeconds(pids);
  const { count, p50, p99, bad, ...took } = await load(estate.baseUrl, { concurrency: tokens.length, seconds, next });
  const used = cpuSeconds(pids) - before;
  return { rate: count / took.seconds, p50, p99, bad, cpu: (used / count) * 1000 };
}

/** How many notes of the thread are not in its counter, and how many are newer than it says. */
async function wrong({ database, project }) {
  const { rows } = await database.query(
    `select abs(i.public_notes_count - count(n.id)::integer) + (i.updated_at < max(n.created_at))::integer as wrong
     from issues i join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue' and not n.system
     where i.project_id = $1 and i.iid = 1 group by i.id`,
    [project],
  );
  return rows[0].wrong;
}

function show(where, name, { rate, p50, p99, cpu, bad }) {
  const figures = [rate.toFixed(0), p50.toFixed(0), p99.toFixed(0), cpu.toFixed(2), bad];
  console.log(where.padEnd(9), name.padEnd(8), figures.map((one) => String(one).padStart(9)).join(' '));
}

/** One turn of one checkout. */
async function turn(name, checkout, { seconds, concurrency }) {
  const here = await place(checkout, concurrency);
  try {
    await write(here, 2, (n) => n + 2);
    show('apart', name, await write(here, seconds / 3, (n) => n + 2));
    await quiet(here.pids, MOST_AT_REST);
    const row = await write(here, seconds, () => 1);
    show('one', name, row);
    return { ...row, wrong: await wrong(here) };
  } finally {
    await here.end();
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Whether nothing was refused and nothing miscounted. */
export async function benchHot({ root, against, rounds, seconds, concurrency }) {
  const checkouts = { rookery: root, ...(against ? { other: against } : {}) };
  const rows = Object.fromEntries(Object.keys(checkouts).map((name) => [name, []]));
  console.log('          target     notes/s   p50 ms   p99 ms   CPU s/1,000   not 2xx');
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, checkout] of Object.entries(checkouts))
      rows[name].push(await turn(name, checkout, { seconds, concurrency }));
  }
  if (against) {
    const ratios = rows.rookery.map(({ rate }, round) => rate / rows.other[round].rate);
    const each = ratios.map((one) => one.toFixed(2)).join(' ');
    console.log(`ours beside the other checkout: x ${median(ratios).toFixed(2)} (${each})`);
  }
  const sum = (name, field) => rows[name].reduce((total, row) => total + row[field], 0);
  for (const name of Object.keys(checkouts))
    console.log(`${name}: not 2xx ${sum(name, 'bad')}, miscounted ${sum(name, 'wrong')}`);
  return sum('rookery', 'bad') + sum('rookery', 'wrong') === 0;
}
