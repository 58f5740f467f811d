/**
 * `npm run footprint`: memory and CPU of an idle estate, including databases, by process.
 *
 *   node tools/bench/footprint.mjs [--max 900] [--settle 180] [--window 60] [--running]
 *
 * Starts an estate on a temporary folder, or with `--running` measures the one on ROOKERY_DATA. PSS counts a page that
 * several processes share only once in total; RSS counts it in each of them. CPU is in per cent of one core, over `--window`
 * seconds after `--settle` seconds without requests: polling slows down ten seconds after the start at the earliest, and V8
 * compiles and collects garbage for two minutes. `--max` (MiB of PSS) sets the exit status.
 *
 * @typedef {Record<string, number>} PidsByName  by name
 * @typedef {Map<number, { parent: number, used: number, ended: number }>} ProcessTable
 * @typedef {{ name: string, count: number, pss: number, rss: number, cpu: number }} FootprintRow
 * @typedef {{ settleMs: number, windowMs: number }} MeasureTimes
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isAlive, readRecord } from '../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';

/** Frequency of the kernel's CPU clock, which is the same on every Linux that Node supports. */
const TICKS_A_SECOND = 100;

/** @param {string[]} words */
async function main(words) {
  if (process.platform !== 'linux') throw new Error('This reads /proc, which only Linux has');
  /** @type {(name: string, otherwise: number) => number} */
  const option = (name, otherwise) => (words.includes(name) ? Number(words[words.indexOf(name) + 1]) : otherwise);
  const limit = option('--max', Infinity);
  const times = { settleMs: option('--settle', 180) * 1000, windowMs: option('--window', 60) * 1000 };
  const rows = words.includes('--running')
    ? await measureRunningEstateFootprint(times)
    : await measureFreshEstateFootprint(times);
  /** @param {'count' | 'pss' | 'rss' | 'cpu'} field */
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  printRows([...rows, { name: 'in all', count: sum('count'), pss: sum('pss'), rss: sum('rss'), cpu: sum('cpu') }]);
  if (sum('pss') > limit * 1024) {
    console.error(`more than ${limit} MiB`);
    process.exitCode = 1;
  }
}

/** @param {MeasureTimes} times */
async function measureFreshEstateFootprint(times) {
  // The supervisor runs in a separate process, so that its memory does not contain the modules of this script.
  const supervisor = fork(fileURLToPath(import.meta.url), ['--estate']);
  const ended = once(supervisor, 'exit');
  try {
    const [pids] = await Promise.race([once(supervisor, 'message'), ended.then(() => [null])]);
    if (!pids) throw new Error('the estate did not start');
    return await measureProcesses({ ...pids, supervisor: supervisor.pid }, times);
  } finally {
    if (supervisor.connected) supervisor.disconnect();
    await ended;
  }
}

/** Runs an estate until the measuring process disconnects. */
async function runEstateUntilDisconnect() {
  const unwatched = once(process, 'disconnect');
  const { startEstate } = await import('../processes/estate.mjs');
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'footprint-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  if (process.connected) process.send?.(estate.pids);
  await unwatched;
  await estate.stop();
  await estate.discard();
  process.exit();
}

/** @param {MeasureTimes} times */
function measureRunningEstateFootprint(times) {
  const data = process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url));
  const holder = readRecord(join(data, 'run/supervisor.lock'));
  if (!isAlive(holder)) throw new Error(`No estate runs on ${data}`);
  return measureProcesses({ ...readRecord(join(data, 'run/pids.json')), supervisor: holder.pid }, times);
}

/**
 * One row for each named process; its descendants (PostgreSQL's) count with it, unless they have a row of their own.
 * @param {PidsByName} pids
 * @param {MeasureTimes} times
 * @returns {Promise<FootprintRow[]>}
 */
async function measureProcesses(pids, { settleMs, windowMs }) {
  await delay(settleMs);
  const before = cpuSecondsByName(pids);
  const from = performance.now();
  await delay(windowMs);
  const seconds = (performance.now() - from) / 1000;
  const after = cpuSecondsByName(pids);
  const families = familiesByName(pids, readProcessTable());
  return Object.keys(pids).map((name) => {
    const all = (families[name] ?? []).map(readMemoryKib);
    /** @param {'pss' | 'rss'} field */
    const sum = (field) => all.reduce((total, one) => total + one[field], 0);
    const cpu = (((after[name] ?? 0) - (before[name] ?? 0)) / seconds) * 100;
    return { name, count: all.length, pss: sum('pss'), rss: sum('rss'), cpu };
  });
}

/**
 * CPU seconds of each named process and its descendants; those of ended children count with their parent.
 * @param {PidsByName} pids
 * @returns {Record<string, number>}
 */
function cpuSecondsByName(pids) {
  const all = readProcessTable();
  return Object.fromEntries(
    Object.entries(familiesByName(pids, all)).map(([name, family]) => [
      name,
      family.reduce((ticks, pid) => ticks + (all.get(pid)?.used ?? 0), all.get(pids[name] ?? 0)?.ended ?? 0) /
        TICKS_A_SECOND,
    ]),
  );
}

/**
 * @param {PidsByName} pids
 * @param {ProcessTable} all
 */
function familiesByName(pids, all) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const [pid, { parent }] of all) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const named = new Set(Object.values(pids));
  /** @type {(pid: number) => number[]} */
  const family = (pid) => [
    pid,
    ...(children.get(pid) ?? []).filter((child) => !named.has(child)).flatMap((child) => family(child)),
  ];
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, family(pid)]));
}

/** Every process of the machine, by id. CPU in ticks: its own, and that of its ended children. */
function readProcessTable() {
  /** @type {ProcessTable} */
  const found = new Map();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      /** @param {number} index */
      const field = (index) => fields[index] ?? 0;
      found.set(Number(name), { parent: field(1), used: field(11) + field(12), ended: field(13) + field(14) });
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found;
}

/** @param {number} pid */
function readMemoryKib(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    /** @param {string} name */
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return { pss: field('Pss'), rss: field('Rss') };
  } catch {
    return { pss: 0, rss: 0 };
  }
}

/** @param {FootprintRow[]} rows */
function printRows(rows) {
  /** @type {(name: string, count: string, pss: string, rss: string, cpu: string) => void} */
  const line = (name, count, pss, rss, cpu) =>
    console.log(`${name.padEnd(16)}${count.padStart(10)}${pss.padStart(12)}${rss.padStart(12)}${cpu.padStart(12)}`);
  line('process', 'count', 'PSS MiB', 'RSS MiB', 'CPU %');
  for (const { name, count, pss, rss, cpu } of rows)
    line(name, String(count), (pss / 1024).toFixed(1), (rss / 1024).toFixed(1), cpu.toFixed(2));
}

if (process.argv[2] === '--estate') await runEstateUntilDisconnect();
else await main(process.argv.slice(2));
