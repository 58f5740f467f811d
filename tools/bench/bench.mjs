#!/usr/bin/env node
/**
 * `npm run bench [-- R1 R2 R3 W1 M F1 F2 F3 P | groups | projects | growth | packages | hot | watchers | effects | git | repository | merge-requests] [--rounds 3] [--count 3000] [--concurrency 16] [--against <checkout>] [--layout one] [--entries 10000] [--seconds 30]`:
 * compares the whole stack with the limit (tools/bench/limit.mjs) in the same run and on the same PostgreSQL, in turn, as
 * medians and ratios. The measured quantity is the CPU time of the whole stack for a thousand requests, minus its idle CPU
 * time; after writes it is measured until the stack is idle. With `--against`, the estate of another checkout (built and
 * installed) replaces the limit and gets the same requests at the same time: other load of the machine affects both alike, so
 * the ratio is stable even if single figures vary. The last line is the comparison: the median of the rounds' ratios. With
 * `--layout one` all services of this checkout run in one process, those of the other one in six (ADR 0197). Feeds
 * (F1 of the user, F2 of a project, F3 of all projects of the user, with `--entries`) are compared with R1 of the same estate,
 * in turn. The page of an issue (P) is compared with the API calls behind it.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Request } from './load.mjs'
 * @import { Data } from './seed.mjs'
 * @typedef {(index: number) => Request} Workload
 * @typedef {{ origin: string, pids: number[], processes?: Record<string, number>, kinds: Record<string, Workload> }} Target
 * @typedef {{ cpu: number, rate: number, p50: number, p99: number, bad: number }} Figures
 * @typedef {Figures & { shares: Record<string, number> }} MeasuredRow
 * @typedef {ReturnType<typeof parseOptions>} Options
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { layoutIn, WITHOUT_RATES } from '../processes/environment.mjs';
import { freePort } from '../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { BELONGING_LISTS, benchMembershipLists } from './belonging.mjs';
import { loadStartEstate } from './checkout.mjs';
import { cpuSeconds, measureIdleCpu, waitUntilCpuIdle } from './cpu.mjs';
import { benchGit } from './git.mjs';
import { benchRepository } from './git-repository.mjs';
import { benchGrowth } from './growth.mjs';
import { benchBusyIssueNotes } from './hot.mjs';
import { load } from './load.mjs';
import { benchMergeRequests } from './merge-requests.mjs';
import { benchPackages } from './packages.mjs';
import { CALLS_A_PAGE, pageWorkloads } from './pages.mjs';
import { ISSUES, PEOPLE } from './seed.mjs';
import { benchEffects, benchWatchers } from './watchers.mjs';

/** Maximum ratios to the limit. @type {Record<string, number>} */
const GOALS = { R1: 1.8, R2: 2.2, R3: 1.8, W1: 3.0, M: 2.0 };
/** Maximum ratios of feeds to R1. @type {Record<string, number>} */
const FEED_GOALS = { F1: 2, F2: 2, F3: 2 };
/** Maximum ratio of a page to the API calls behind it. */
const PAGE_GOAL = 1.5;

/** @param {string[]} words */
function parseOptions(words) {
  /** @type {(name: string, fallback: number) => number} */
  const numberOf = (name, fallback) => {
    const at = words.indexOf(name);
    return at < 0 ? fallback : Number(words.splice(at, 2)[1]);
  };
  const rounds = numberOf('--rounds', 3);
  const count = numberOf('--count', words.includes('watchers') ? 20_000 : 3000);
  const concurrency = numberOf('--concurrency', words.includes('hot') || words.includes('effects') ? 100 : 16);
  const seconds = numberOf('--seconds', 30);
  const entries = numberOf('--entries', words.includes('merge-requests') ? 1_000_000 : 10_000);
  /** @type {(name: string) => string | undefined} */
  const textOf = (name) => {
    const at = words.indexOf(name);
    return at < 0 ? undefined : (words.splice(at, 2)[1] ?? '');
  };
  const other = textOf('--against');
  const against = other === undefined ? undefined : resolve(other);
  const layout = layoutIn({ ROOKERY_LAYOUT: textOf('--layout') ?? 'six' });
  return {
    rounds,
    count,
    concurrency,
    seconds,
    entries,
    against,
    layout,
    names: words.length > 0 ? words : Object.keys(GOALS),
  };
}

/**
 * First issue whose author is also the writer of its notes, so that a note causes one e-mail, to the mentioned user. In the
 * seed, the author of issue n is user n, modulo the number of users.
 */
const OWN_ISSUES = 4 * PEOPLE;

/**
 * The requests, which are the same for both targets.
 * @param {Data} data
 * @returns {Record<string, Workload>}
 */
function createWorkloads({ project, people }) {
  /** @param {number} iid */
  const notes = (iid) => `/api/v4/projects/${project}/issues/${iid}/notes`;
  /** @param {number} index */
  const as = (index) => ({ 'private-token': people[index % PEOPLE]?.token ?? '' });
  /** @param {number} index */
  const issueOf = (index) => 1 + ((index * 7) % 101);
  // Notes 1 to 200 belong to issue 1, the next 2,000 to issues 2 to 101 by twenties.
  /** @param {number} index */
  const oneNote = (index) => {
    const id = 1 + ((index * 13) % 2200);
    return `${notes(id <= 200 ? 1 : 2 + Math.floor((id - 201) / 20))}/${id}`;
  };
  /** @type {Record<'R1' | 'R2' | 'R3' | 'F1' | 'F2' | 'F3' | 'W1', Workload>} */
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
        body: `Could you look at this, please? cc @${people[(index + 1) % PEOPLE]?.username} ${index}`,
      }),
    }),
  };
  return { ...kinds, M: (index) => kinds[index % 10 === 0 ? 'W1' : index % 2 === 0 ? 'R2' : 'R1'](index) };
}

/**
 * @param {Estate} estate
 * @param {Data['people']} people
 */
async function startLowerBoundServer(estate, people) {
  const port = await freePort();
  const tokens = Object.fromEntries(people.map(({ id, username, token }) => [token, [id, username]]));
  const child = fork(fileURLToPath(new URL('limit.mjs', import.meta.url)), {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      PORT: String(port),
      LIMIT_BASE: estate.baseUrl,
      LIMIT_DATABASE_URL: estate.owners['collaboration'],
      LIMIT_SMTP_URL: estate.smtpUrl,
      LIMIT_TOKENS: JSON.stringify(tokens),
    },
  });
  await new Promise((resolve, reject) =>
    child.once('message', resolve).once('exit', () => reject(new Error('the limit ended'))),
  );
  const stop = async () => void child.kill();
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid, stop };
}

/** Fields whose values depend on the order and time of requests; all other fields of answers are compared. */
const OWN = new Set(['id', 'created_at', 'updated_at']);

/**
 * Checks that the limit gives the same answers as the product, apart from `OWN` fields of notes.
 * Errors: the answers differ.
 * @param {Target} ours
 * @param {Target} limit
 * @param {string[]} names
 * @param {string} mailDir
 */
async function checkAnswersEqualLowerBound(ours, limit, names, mailDir) {
  /** @type {(target: Target, name: string) => Promise<string>} */
  const ask = async ({ origin, kinds }, name) => {
    const { path, ...request } = requireWorkload(kinds, name)(3);
    const response = await fetch(origin + path, request);
    return response.text();
  };
  for (const name of names.filter((one) => one !== 'M')) {
    if (name === 'W1') await checkNoteSendsOneMail([ours, limit], (target) => ask(target, name), mailDir);
    /** @type {((key: string, value: unknown) => unknown) | undefined} */
    const without = name === 'W1' ? (key, value) => (OWN.has(key) ? undefined : value) : undefined;
    const [product, floor] = (await Promise.all([ask(ours, name), ask(limit, name)])).map((text) =>
      JSON.stringify(JSON.parse(text, without)),
    );
    if (product !== floor) throw new Error(`${name}: the limit gives another answer:\n${product}\n${floor}`);
  }
}

/**
 * @param {Record<string, Workload>} kinds
 * @param {string} name
 */
function requireWorkload(kinds, name) {
  const workload = kinds[name];
  if (!workload) throw new Error(`there is no benchmark ${name}`);
  return workload;
}

/**
 * Checks that a note causes one e-mail at each target, also shortly after the first one. Errors: none, or several.
 * @param {Target[]} targets
 * @param {(target: Target) => Promise<unknown>} ask
 * @param {string} folder
 */
async function checkNoteSendsOneMail(targets, ask, folder) {
  const sent = () => readdirSync(folder).filter((file) => file.endsWith('.eml')).length;
  for (const target of targets) {
    const before = sent();
    await ask(target);
    for (let attempt = 0; attempt < 100 && sent() === before; attempt += 1) await delay(100);
    await delay(1000);
    if (sent() !== before + 1) throw new Error(`${target.origin}: ${sent() - before} e-mails for one note`);
  }
}

/**
 * Duration of the warm-up before the first round, and before each round. V8 optimizes during the first ten thousand requests
 * of a kind, and longer in the product's two processes than in the one of the limit. Units: seconds.
 */
const WARM_SECONDS = { first: 10, each: 1 };

/**
 * Warms a target up. Resolves to its idle CPU use.
 * @param {Target} target
 * @param {Workload} next
 * @param {Pick<Options, 'concurrency'>} options
 * @param {number} round
 */
async function warmUp(target, next, { concurrency }, round) {
  const seconds = round === 0 ? WARM_SECONDS.first : WARM_SECONDS.each;
  await load(target.origin, { concurrency, seconds, next: (index) => next(index + 7919) });
  return measureIdleCpu(target.pids);
}

/**
 * @param {Target} target
 * @param {Workload} next
 * @param {Pick<Options, 'concurrency' | 'count'>} options
 * @param {number} idleCpu
 * @returns {Promise<MeasuredRow>}
 */
async function measureRound(target, next, { concurrency, count }, idleCpu) {
  const [from, before, byProcess] = [performance.now(), cpuSeconds(target.pids), cpuByProcess(target)];
  const result = await load(target.origin, { concurrency, count, next });
  await waitUntilCpuIdle(target.pids, idleCpu);
  const seconds = (performance.now() - from) / 1000;
  const cpu = ((cpuSeconds(target.pids) - before - idleCpu * seconds) / count) * 1000;
  const shares = Object.entries(cpuByProcess(target)).map(([name, used]) => [
    name,
    ((used - (byProcess[name] ?? 0)) / count) * 1000,
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

/**
 * CPU seconds of each process of a stack, including idle work.
 * @param {Target} target
 * @returns {Record<string, number>}
 */
const cpuByProcess = ({ processes = {} }) =>
  Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuSeconds([pid])]));

/** @param {number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
/** @type {(rows: MeasuredRow[]) => Figures} */
const medianFigures = (rows) => {
  /** @param {keyof Figures} name */
  const of = (name) => median(rows.map((row) => row[name]));
  return { cpu: of('cpu'), rate: of('rate'), p50: of('p50'), p99: of('p99'), bad: of('bad') };
};

/**
 * Starts an estate with its data. `checkout` is the root of the code to run.
 * @param {string} checkout
 * @param {Pick<Options, 'entries' | 'layout' | 'names'>} options
 */
async function startSeededEstate(checkout, { entries, layout, names }) {
  const startEstate = await loadStartEstate(checkout);
  /** @type {typeof import('./seed.mjs')} */
  const { seed } = await import(pathToFileURL(join(checkout, 'tools/bench/seed.mjs')).href);
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  // Without a limit for recipients: delayed e-mails would be measured with the next workload.
  const env = {
    ...WITHOUT_RATES,
    ROOKERY_LAYOUT: layout,
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
  /** @type {Target} */
  const target = { origin: estate.baseUrl, pids: Object.values(stack), processes: stack, kinds: createWorkloads(data) };
  if (names.includes('P')) {
    const { page, calls } = await pageWorkloads(estate.baseUrl, data.people);
    Object.assign(target.kinds, { P: page, 'calls of P': calls });
  }
  return { estate, data, end, target };
}

/**
 * The targets for a feed: the feed itself, and the newest notes of an issue as the reference.
 * @param {Target} target
 * @param {string} name
 * @returns {Record<string, Target>}
 */
const toFeedAndNotesTargets = (target, name) => ({
  rookery: target,
  notes: { ...target, kinds: { [name]: requireWorkload(target.kinds, 'R1') } },
});

/**
 * The targets for a page: the page, and the API calls behind it.
 * @param {Target} target
 * @returns {Record<string, Target>}
 */
const toPageAndApiCallsTargets = (target) => ({
  rookery: target,
  calls: { ...target, kinds: { P: requireWorkload(target.kinds, 'calls of P') } },
});

const chosen = parseOptions(process.argv.slice(2));
// Other benchmarks, each with its own data.
const comparisons = {
  growth: benchGrowth,
  packages: benchPackages,
  'merge-requests': benchMergeRequests,
  git: benchGit,
};
for (const [name, bench] of Object.entries(comparisons)) {
  if (!chosen.names.includes(name)) continue;
  const words = chosen.names.filter((one) => one !== name);
  const most = name === 'git' ? 3000 : 100;
  const isKept = await bench({
    words,
    rounds: chosen.rounds,
    count: Math.min(chosen.count, most),
    entries: chosen.entries,
  });
  process.exit(isKept ? 0 : 1);
}
const root = fileURLToPath(new URL('../../', import.meta.url));
for (const [name, bench] of Object.entries({
  hot: benchBusyIssueNotes,
  watchers: benchWatchers,
  effects: benchEffects,
})) {
  if (chosen.names.includes(name)) process.exit((await bench({ ...chosen, root })) ? 0 : 1);
}
if (chosen.names.includes('repository')) {
  process.exit((await benchRepository({ count: Math.min(chosen.count, 100) })) ? 0 : 1);
}
const belonging = BELONGING_LISTS.find((name) => chosen.names.includes(name));
if (belonging) {
  const isKept = await benchMembershipLists(belonging, { rounds: chosen.rounds, count: Math.min(chosen.count, 300) });
  process.exit(isKept ? 0 : 1);
}
/** @type {(() => Promise<void>)[]} */
const ends = [];
try {
  const ours = await startSeededEstate(root, chosen);
  ends.push(ours.end);
  /** @type {Record<string, Target>} */
  const stacks = { rookery: ours.target };
  if (chosen.against) {
    const other = await startSeededEstate(chosen.against, { ...chosen, layout: 'six' });
    ends.push(other.end);
    stacks['other'] = other.target;
  } else {
    const limit = await startLowerBoundServer(ours.estate, ours.data.people);
    ends.unshift(limit.stop);
    const pids = [Number(limit.pid), Number(ours.estate.pids['postgres'])];
    const target = { origin: limit.origin, pids, kinds: ours.target.kinds };
    stacks['limit'] = target;
    const compared = chosen.names.filter((name) => name in GOALS);
    await checkAnswersEqualLowerBound(ours.target, target, compared, ours.estate.mailDir);
  }
  console.log('      target   CPU s/1,000   req/s    p50 ms   p99 ms   not 2xx   CPU ratio (goal)');
  for (const name of chosen.names) {
    const isPage = name === 'P' && !chosen.against;
    const goal = isPage ? PAGE_GOAL : (GOALS[name] ?? FEED_GOALS[name]);
    const compared = name in FEED_GOALS && !chosen.against ? toFeedAndNotesTargets(ours.target, name) : stacks;
    const targets = isPage ? toPageAndApiCallsTargets(ours.target) : compared;
    /** @type {Record<string, MeasuredRow[]>} */
    const rows = Object.fromEntries(Object.keys(targets).map((target) => [target, []]));
    for (let round = 0; round < chosen.rounds; round += 1) {
      // The targets are measured in turn; with `--against`, at the same time.
      for (const turn of chosen.against ? [Object.entries(targets)] : Object.entries(targets).map((one) => [one])) {
        const draws = await Promise.all(
          turn.map(([, about]) => warmUp(about, requireWorkload(about.kinds, name), chosen, round)),
        );
        const measured = turn.map(([, about], index) =>
          measureRound(about, requireWorkload(about.kinds, name), chosen, draws[index] ?? 0),
        );
        for (const [index, row] of (await Promise.all(measured)).entries()) rows[turn[index]?.[0] ?? '']?.push(row);
      }
    }
    const reference = rows['limit'] ?? rows['notes'] ?? rows['calls'];
    const floor = reference && medianFigures(reference);
    const times = isPage ? CALLS_A_PAGE : 1;
    for (const target of Object.keys(targets)) {
      const row = medianFigures(rows[target] ?? []);
      const figures = [
        row.cpu.toFixed(3).padStart(11),
        row.rate.toFixed(0).padStart(9),
        row.p50.toFixed(2).padStart(9),
        row.p99.toFixed(2).padStart(8),
        String(row.bad).padStart(9),
      ];
      const ratio = floor && target === 'rookery' ? `   x ${(row.cpu / floor.cpu / times).toFixed(2)} (${goal})` : '';
      console.log(`${name.padEnd(5)} ${target.padEnd(8)} ${figures.join(' ')}${ratio}`);
    }
    for (const [target, about] of Object.entries(targets)) {
      const shares = Object.keys(about.processes ?? {}).map((process) => {
        const used = median((rows[target] ?? []).map((row) => row.shares[process] ?? 0));
        return `${process} ${used.toFixed(2)}`;
      });
      if (shares.length > 0) console.log(`${name.padEnd(5)} ${target.padEnd(8)} by process: ${shares.join(', ')}`);
    }
    const others = rows['other'];
    if (others) {
      const ratios = (rows['rookery'] ?? []).map(({ cpu }, round) => cpu / (others[round]?.cpu ?? NaN));
      const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
      console.log(`${name.padEnd(5)} compared with the other checkout: x ${median(ratios).toFixed(2)} (${each})`);
    }
  }
} finally {
  for (const end of ends) await end();
}
process.exit();
