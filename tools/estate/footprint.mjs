/**
 * `npm run footprint`: the memory of an idle estate and the CPU that it takes, databases included, by process.
 *
 *   node tools/estate/footprint.mjs [--max 900] [--settle 180] [--window 60] [--running]
 *
 * Starts an estate of its own on a throw-away folder, or with `--running` looks at the one on ROOKERY_DATA. PSS counts a
 * page that several processes share once in all; RSS counts it in each. CPU is in per cent of one core, over `--window`
 * seconds after `--settle` seconds of rest: what looks seldom when nothing happens does so ten seconds after the start at
 * the earliest, and V8 compiles and collects for two minutes. `--max` (MiB of PSS) sets the exit status.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isAlive, readRecord } from './processes.mjs';
import { sharedTemporary } from './postgres-files.mjs';

/** The kernel's clock of CPU time, the same on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;

async function main(words) {
  if (process.platform !== 'linux') throw new Error('This reads /proc, which only Linux has');
  const option = (name, otherwise) => (words.includes(name) ? Number(words[words.indexOf(name) + 1]) : otherwise);
  const limit = option('--max', Infinity);
  const times = { settleMs: option('--settle', 180) * 1000, windowMs: option('--window', 60) * 1000 };
  const rows = words.includes('--running') ? await running(times) : await idle(times);
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  print([...rows, { name: 'in all', count: sum('count'), pss: sum('pss'), rss: sum('rss'), cpu: sum('cpu') }]);
  if (sum('pss') > limit * 1024) {
    console.error(`more than ${limit} MiB`);
    process.exitCode = 1;
  }
}

async function idle(times) {
  // In a process of its own, as the supervisor is: what is loaded here to measure is none of its memory.
  const supervisor = fork(fileURLToPath(import.meta.url), ['--estate']);
  const ended = once(supervisor, 'exit');
  try {
    const [pids] = await Promise.race([once(supervisor, 'message'), ended.then(() => [null])]);
    if (!pids) throw new Error('the estate did not start');
    return await measure({ ...pids, supervisor: supervisor.pid }, times);
  } finally {
    if (supervisor.connected) supervisor.disconnect();
    await ended;
  }
}

/** Keeps an estate until nobody looks at it any more. */
async function supervise() {
  const unwatched = once(process, 'disconnect');
  const { startEstate } = await import('./estate.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'footprint-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  if (process.connected) process.send(estate.pids);
  await unwatched;
  await estate.stop();
  await estate.discard();
  process.exit();
}

function running(times) {
  const data = process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url));
  const holder = readRecord(join(data, 'run/supervisor.lock'));
  if (!isAlive(holder)) throw new Error(`No estate runs on ${data}`);
  return measure({ ...readRecord(join(data, 'run/pids.json')), supervisor: holder.pid }, times);
}

/** One row for each named process; descendants (PostgreSQL's) count with it, unless they have a row of their own. */
async function measure(pids, { settleMs, windowMs }) {
  await delay(settleMs);
  const before = cpuOf(pids);
  const from = performance.now();
  await delay(windowMs);
  const seconds = (performance.now() - from) / 1000;
  const after = cpuOf(pids);
  const families = familiesOf(pids, processes());
  return Object.keys(pids).map((name) => {
    const all = families[name].map(memoryOf);
    const sum = (field) => all.reduce((total, one) => total + one[field], 0);
    const cpu = ((after[name] - before[name]) / seconds) * 100;
    return { name, count: all.length, pss: sum('pss'), rss: sum('rss'), cpu };
  });
}

/** Seconds of each named process and its family; what a child used that has ended counts with its parent. */
function cpuOf(pids) {
  const all = processes();
  return Object.fromEntries(
    Object.entries(familiesOf(pids, all)).map(([name, family]) => [
      name,
      family.reduce((ticks, pid) => ticks + (all.get(pid)?.used ?? 0), all.get(pids[name])?.ended ?? 0) /
        TICKS_A_SECOND,
    ]),
  );
}

function familiesOf(pids, all) {
  const children = new Map();
  for (const [pid, { parent }] of all) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const named = new Set(Object.values(pids));
  const family = (pid) => [
    pid,
    ...(children.get(pid) ?? []).filter((child) => !named.has(child)).flatMap((child) => family(child)),
  ];
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, family(pid)]));
}

/** Every process of the machine. Shape: by id; CPU in ticks, its own and that of its children that have ended. */
function processes() {
  const found = new Map();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      found.set(Number(name), { parent: fields[1], used: fields[11] + fields[12], ended: fields[13] + fields[14] });
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

function memoryOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return { pss: field('Pss'), rss: field('Rss') };
  } catch {
    return { pss: 0, rss: 0 };
  }
}

function print(rows) {
  const line = (name, count, pss, rss, cpu) =>
    console.log(`${name.padEnd(16)}${count.padStart(10)}${pss.padStart(12)}${rss.padStart(12)}${cpu.padStart(12)}`);
  line('process', 'count', 'PSS MiB', 'RSS MiB', 'CPU %');
  for (const { name, count, pss, rss, cpu } of rows)
    line(name, String(count), (pss / 1024).toFixed(1), (rss / 1024).toFixed(1), cpu.toFixed(2));
}

if (process.argv[2] === '--estate') await supervise();
else await main(process.argv.slice(2));
