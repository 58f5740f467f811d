/**
 * `npm run bench -- hot [--rounds 5] [--count 2000] [--concurrency 100] [--against <checkout>]`: many people who write notes
 * to one issue at once, and what its row costs them. With `--against` the estate of another checkout (built and installed)
 * is written to in turn, so that their ratio holds whatever the machine does besides. Counted are answers that are not 2xx,
 * and whether the issue's counter says what there is. The exit code is 1 when anything of that is wrong.
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

/** Each of them is told of every note of the others. */
const PEOPLE = 8;

/** Of a core; effects and e-mails follow for a while. */
const MOST_AT_REST = 0.3;

/** An estate of a checkout with its people and two issues: one that is measured, one of each person beside it. */
async function place(checkout, issues) {
  const { startEstate } = await import(pathToFileURL(join(checkout, 'tools/estate/estate.mjs')));
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: ROOM });
  const post = writerOf(estate);
  const tokens = [];
  for (let n = 0; n < PEOPLE; n += 1) tokens.push((await makePerson(post, `hot${n}`)).token);
  const { id: project } = await post('/projects', { name: 'hot', visibility: 'public' });
  for (let n = 0; n <= issues; n += 1) await post(`/projects/${project}/issues`, { title: `Issue ${n}` });
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

/** Shape: `at(n)` is the issue that the n-th writes to. */
async function write({ estate, tokens, project, pids }, { concurrency, count }, at) {
  const next = (n) => ({
    method: 'POST',
    path: `/api/v4/projects/${project}/issues/${at(n % concurrency)}/notes`,
    headers: { 'private-token': tokens[n % tokens.length], 'content-type': 'application/json' },
    body: JSON.stringify({ body: `What was seen, and what might be done next, number ${n}` }),
  });
  const before = cpuSeconds(pids);
  const { seconds, p50, p99, bad } = await load(estate.baseUrl, { concurrency, count, next });
  const used = cpuSeconds(pids) - before;
  return { rate: count / seconds, p50, p99, bad, cpu: (used / count) * 1000 };
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

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Whether nothing was refused and nothing miscounted. */
export async function benchHot({ root, against, rounds, count, concurrency }) {
  const checkouts = { rookery: root, ...(against ? { other: against } : {}) };
  const places = {};
  const found = { bad: 0, wrong: 0 };
  const rates = Object.fromEntries(Object.keys(checkouts).map((name) => [name, []]));
  try {
    for (const [name, checkout] of Object.entries(checkouts)) places[name] = await place(checkout, concurrency);
    console.log('          target     notes/s   p50 ms   p99 ms   CPU s/1,000   not 2xx');
    for (let round = 0; round <= rounds; round += 1) {
      const turn = Object.keys(checkouts);
      if (round % 2) turn.reverse();
      for (const name of turn) {
        for (const [where, at] of [
          ['one', () => 1],
          ['apart', (n) => n + 2],
        ]) {
          const row = await write(places[name], { concurrency, count: round === 0 ? concurrency * 3 : count }, at);
          // What follows of the notes would be counted to the next.
          await quiet(places[name].pids, MOST_AT_REST);
          found.bad += row.bad;
          // The first round warms up.
          if (round === 0) continue;
          if (where === 'one') rates[name].push(row.rate);
          const figures = [row.rate.toFixed(0), row.p50.toFixed(0), row.p99.toFixed(0), row.cpu.toFixed(2), row.bad];
          console.log(where.padEnd(9), name.padEnd(8), figures.map((one) => String(one).padStart(9)).join(' '));
        }
      }
    }
    for (const name of Object.keys(checkouts)) found.wrong += await wrong(places[name]);
  } finally {
    for (const { end } of Object.values(places)) await end();
  }
  if (against) {
    const ratios = rates.rookery.map((rate, round) => rate / rates.other[round]);
    console.log(
      `ours beside the other checkout: x ${median(ratios).toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(' ')})`,
    );
  }
  console.log(`not 2xx ${found.bad}, miscounted ${found.wrong}`);
  return found.bad + found.wrong === 0;
}
