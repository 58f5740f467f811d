#!/usr/bin/env node
/**
 * `npm run bench [-- R1 R2 R3 W1 M F1 F2 F3 | groups | projects | growth | hot] [--rounds 3] [--count 3000] [--concurrency 16] [--against <checkout>] [--entries 10000] [--seconds 30]`:
 * the whole stack beside the limit (tools/bench/limit.mjs) in the same run and on the same PostgreSQL, in turn, as
 * medians and ratios. What decides is the CPU time of the whole stack for a thousand requests, less what it takes while
 * idle in the same time; after writes it is counted until all is quiet. With `--against` the estate of another checkout
 * (built and installed) is asked the same at the same time, in place of the limit: whatever the machine does besides
 * costs both alike, so their ratio holds where figures taken in turn scatter. The last line is ours beside it: the median
 * of the rounds' ratios. Feeds (F1 one's own, F2 a project's, F3 of all one's projects, over so many `--entries`) are
 * measured beside R1 of the same estate instead, in turn.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { WITHOUT_RATES } from '../estate/environment.mjs';
import { freePort } from '../estate/processes.mjs';
import { sharedTemporary } from '../estate/postgres-files.mjs';
import { BELONGING_LISTS, benchBelonging } from './belonging.mjs';
import { cpuSeconds, idleDraw, quiet } from './cpu.mjs';
import { benchGrowth } from './growth.mjs';
import { benchHot } from './hot.mjs';
import { load } from './load.mjs';
import { ISSUES, PEOPLE } from './seed.mjs';

const GOALS = { R1: 1.8, R2: 2.2, R3: 1.8, W1: 3.0, M: 2.0 };
/** What feeds may cost beside R1. */
const FEED_GOALS = { F1: 2, F2: 2, F3: 2 };

function options(words) {
  const numberOf = (name, fallback) => {
    const at = words.indexOf(name);
    return at < 0 ? fallback : Number(words.splice(at, 2)[1]);
  };
  const rounds = numberOf('--rounds', 3);
  const count = numberOf('--count', 3000);
  const concurrency = numberOf('--concurrency', words.includes('hot') ? 100 : 16);
  const seconds = numberOf('--seconds', 30);
  const entries = numberOf('--entries', 10_000);
  const at = words.indexOf('--against');
  const against = at < 0 ? undefined : resolve(words.splice(at, 2)[1]);
  return {
    rounds,
    count,
    concurrency,
    seconds,
    entries,
    against,
    names: words.length > 0 ? words : Object.keys(GOALS),
  };
}

/**
 * From here on an issue was opened by the person who writes to it, so that one e-mail leaves for a note: to whom it
 * mentions. The seed gives issue n to person n, modulo all people.
 */
const OWN_ISSUES = 4 * PEOPLE;

/** What is asked, the same of both. */
function workloads({ project, people }) {
  const notes = (iid) => `/api/v4/projects/${project}/issues/${iid}/notes`;
  const as = (index) => ({ 'private-token': people[index % PEOPLE].token });
  const issueOf = (index) => 1 + ((index * 7) % 101);
  // Notes 1 to 200 belong to issue 1, the next 2,000 to issues 2 to 101 by twenties.
  const oneNote = (index) => {
    const id = 1 + ((index * 13) % 2200);
    return `${notes(id <= 200 ? 1 : 2 + Math.floor((id - 201) / 20))}/${id}`;
  };
  const kinds = {
    R1: (index) => ({ method: 'GET', path: notes(issueOf(index)), headers: as(index) }),
    R2: (index) => ({ method: 'GET', path: oneNote(index), headers: as(index) }),
    R3: (index) => ({ method: 'GET', path: '/api/v4/todos', headers: as(index) }),
    F1: (index) => ({ method: 'GET', path: '/api/v4/events', headers: as(index) }),
    F2: (index) => ({ method: 'GET', path: `/api/v4/projects/${project}/events`, headers: as(index) }),
    F3: (index) => ({ method: 'GET', path: '/api/v4/events?scope=all', headers: as(index) }),
    W1: (index) => ({
      method: 'POST',
      path: notes(OWN_ISSUES + (index % (ISSUES - OWN_ISSUES))),
      headers: { ...as(index), 'content-type': 'application/json' },
      body: JSON.stringify({
        body: `Could you look at this, please? cc @${people[(index + 1) % PEOPLE].username} ${index}`,
      }),
    }),
  };
  return { ...kinds, M: (index) => kinds[index % 10 === 0 ? 'W1' : index % 2 === 0 ? 'R2' : 'R1'](index) };
}

async function startLimit(estate, people) {
  const port = await freePort();
  const tokens = Object.fromEntries(people.map(({ id, username, token }) => [token, [id, username]]));
  const child = fork(fileURLToPath(new URL('limit.mjs', import.meta.url)), {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      PORT: String(port),
      LIMIT_BASE: estate.baseUrl,
      LIMIT_DATABASE_URL: estate.databases.collaboration,
      LIMIT_SMTP_URL: estate.smtpUrl,
      LIMIT_TOKENS: JSON.stringify(tokens),
    },
  });
  await new Promise((resolve, reject) =>
    child.once('message', resolve).once('exit', () => reject(new Error('the limit ended'))),
  );
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.kill() };
}

/** What is only so by its number, its time or its writer; the rest of an answer is compared. */
const OWN = new Set(['id', 'created_at', 'updated_at']);

/**
 * The limit is none unless it says all that the product says.
 * Errors: what they say differently; a note is compared without its id and times.
 */
async function holdAlike(ours, limit, names, mailDir) {
  const ask = async ({ origin, kinds }, name) => {
    const { path, ...request } = kinds[name](3);
    const response = await fetch(origin + path, request);
    return response.text();
  };
  for (const name of names.filter((one) => one !== 'M')) {
    if (name === 'W1') await holdOneMail([ours, limit], (target) => ask(target, name), mailDir);
    const without = name === 'W1' ? (key, value) => (OWN.has(key) ? undefined : value) : undefined;
    const [said, floor] = (await Promise.all([ask(ours, name), ask(limit, name)])).map((text) =>
      JSON.stringify(JSON.parse(text, without)),
    );
    if (said !== floor) throw new Error(`${name}: the limit says something else:\n${said}\n${floor}`);
  }
}

/** One e-mail leaves for a note to each: it is waited for, and so is what comes shortly after it. Errors: none does, or more. */
async function holdOneMail(targets, ask, folder) {
  const sent = () => readdirSync(folder).filter((file) => file.endsWith('.eml')).length;
  for (const target of targets) {
    const before = sent();
    await ask(target);
    for (let look = 0; look < 100 && sent() === before; look += 1) await delay(100);
    await delay(1000);
    if (sent() !== before + 1) throw new Error(`${target.origin}: ${sent() - before} e-mails for one note`);
  }
}

/**
 * V8 compiles what is called often for the first ten thousand requests of a kind, the product's two processes longer
 * than the one of the limit: what runs for months is measured after that. Units: seconds before the first round, and
 * before each.
 */
const WARM_SECONDS = { first: 10, each: 1 };

/** Answers the idle draw. */
async function warm(target, next, { concurrency }, round) {
  const seconds = round === 0 ? WARM_SECONDS.first : WARM_SECONDS.each;
  await load(target.origin, { concurrency, seconds, next: (index) => next(index + 7919) });
  return idleDraw(target.pids);
}

async function measure(target, next, { concurrency, count }, idle) {
  const [from, before, byProcess] = [performance.now(), cpuSeconds(target.pids), cpuByProcess(target)];
  const result = await load(target.origin, { concurrency, count, next });
  await quiet(target.pids, idle);
  const seconds = (performance.now() - from) / 1000;
  const cpu = ((cpuSeconds(target.pids) - before - idle * seconds) / count) * 1000;
  const shares = Object.entries(cpuByProcess(target)).map(([name, used]) => [
    name,
    ((used - byProcess[name]) / count) * 1000,
  ]);
  return {
    cpu,
    rate: count / result.seconds,
    p50: result.p50,
    p99: result.p99,
    bad: result.bad,
    shares: Object.fromEntries(shares),
  };
}

/** CPU seconds of each process of a stack; idle work is in them. */
const cpuByProcess = ({ processes = {} }) =>
  Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuSeconds([pid])]));

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const summary = (rows) =>
  Object.fromEntries(['cpu', 'rate', 'p50', 'p99', 'bad'].map((name) => [name, middle(rows.map((row) => row[name]))]));

/** An estate with its data. `checkout` is the root of the one whose code runs. */
async function seeded(checkout, { entries }) {
  const from = (path) => import(pathToFileURL(join(checkout, 'tools', path)));
  const { startEstate } = await from('estate/estate.mjs');
  const { seed } = await from('bench/seed.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-bench-'));
  // E-mails that wait for their recipient's allowance would be counted to whatever is measured next.
  const env = {
    ...WITHOUT_RATES,
    NOTES_CREATES_PER_MINUTE_COUNT: '0',
    NOTES_PER_NOTEABLE_COUNT: '1000000',
    MAILER_PER_RECIPIENT_BURST_COUNT: '100000',
  };
  const estate = await startEstate({ dataDir, port: await freePort(), env });
  const end = async () => {
    await estate.stop();
    await estate.discard();
  };
  const data = await seed(estate, { entries }).catch(async (error) => {
    await end();
    throw error;
  });
  const { supervisor: _, ...stack } = estate.pids;
  return {
    estate,
    data,
    end,
    target: { origin: estate.baseUrl, pids: Object.values(stack), processes: stack, kinds: workloads(data) },
  };
}

/** A feed, and the newest notes of an issue in its place. */
const besideNotes = (target, name) => ({ rookery: target, notes: { ...target, kinds: { [name]: target.kinds.R1 } } });

const chosen = options(process.argv.slice(2));
// Other questions, with data of their own: each stands alone.
if (chosen.names.includes('growth')) {
  const words = chosen.names.filter((name) => name !== 'growth');
  const isKept = await benchGrowth({ words, rounds: chosen.rounds, count: Math.min(chosen.count, 100) });
  process.exit(isKept ? 0 : 1);
}
if (chosen.names.includes('hot')) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  process.exit((await benchHot({ ...chosen, root })) ? 0 : 1);
}
const belonging = BELONGING_LISTS.find((name) => chosen.names.includes(name));
if (belonging) {
  const isKept = await benchBelonging(belonging, { rounds: chosen.rounds, count: Math.min(chosen.count, 300) });
  process.exit(isKept ? 0 : 1);
}
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ends = [];
try {
  const ours = await seeded(ROOT, chosen);
  ends.push(ours.end);
  const stacks = { rookery: ours.target };
  if (chosen.against) {
    const other = await seeded(chosen.against, chosen);
    ends.push(other.end);
    stacks.other = other.target;
  } else {
    const limit = await startLimit(ours.estate, ours.data.people);
    ends.unshift(limit.stop);
    const pids = [limit.pid, ours.estate.pids.postgres];
    stacks.limit = { origin: limit.origin, pids, kinds: ours.target.kinds };
    const asked = chosen.names.filter((name) => name in GOALS);
    await holdAlike(ours.target, stacks.limit, asked, ours.estate.mailDir);
  }
  console.log('      target   CPU s/1,000   req/s    p50 ms   p99 ms   not 2xx   CPU ratio (goal)');
  for (const name of chosen.names) {
    const goal = GOALS[name] ?? FEED_GOALS[name];
    const targets = name in FEED_GOALS && !chosen.against ? besideNotes(ours.target, name) : stacks;
    const rows = Object.fromEntries(Object.keys(targets).map((target) => [target, []]));
    for (let round = 0; round < chosen.rounds; round += 1) {
      // In turn, or all at once.
      for (const turn of chosen.against ? [Object.entries(targets)] : Object.entries(targets).map((one) => [one])) {
        const draws = await Promise.all(turn.map(([, about]) => warm(about, about.kinds[name], chosen, round)));
        const measured = turn.map(([, about], index) => measure(about, about.kinds[name], chosen, draws[index]));
        for (const [index, row] of (await Promise.all(measured)).entries()) rows[turn[index][0]].push(row);
      }
    }
    const floor = (rows.limit || rows.notes) && summary(rows.limit ?? rows.notes);
    for (const target of Object.keys(targets)) {
      const row = summary(rows[target]);
      const figures = [
        row.cpu.toFixed(3).padStart(11),
        row.rate.toFixed(0).padStart(9),
        row.p50.toFixed(2).padStart(9),
        row.p99.toFixed(2).padStart(8),
        String(row.bad).padStart(9),
      ];
      const ratio = floor && target === 'rookery' ? `   x ${(row.cpu / floor.cpu).toFixed(2)} (${goal})` : '';
      console.log(`${name.padEnd(5)} ${target.padEnd(8)} ${figures.join(' ')}${ratio}`);
    }
    for (const [target, about] of Object.entries(targets)) {
      const shares = Object.keys(about.processes ?? {}).map((process) => {
        const used = middle(rows[target].map((row) => row.shares[process]));
        return `${process} ${used.toFixed(2)}`;
      });
      if (shares.length > 0) console.log(`${name.padEnd(5)} ${target.padEnd(8)} by process: ${shares.join(', ')}`);
    }
    if (rows.other) {
      const ratios = rows.rookery.map(({ cpu }, round) => cpu / rows.other[round].cpu);
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
      console.log(`${name.padEnd(5)} ours beside the other checkout: x ${middle(ratios).toFixed(2)} (${each})`);
    }
  }
} finally {
  for (const end of ends) await end();
}
process.exit();
