/**
 * `npm run footprint`: the memory of an idle estate, databases included, by process.
 *
 *   node tools/estate/footprint.mjs [--max 900] [--running]
 *
 * Starts an estate of its own on a throw-away folder, or with `--running` looks at the one on ROOKERY_DATA. PSS counts a
 * page that several processes share once in all; RSS counts it in each. `--max` (MiB of PSS) sets the exit status.
 */
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isAlive, readRecord } from './processes.mjs';
import { sharedTemporary } from './postgres-files.mjs';

const SETTLE_MS = 15_000;

async function main(words) {
  if (process.platform !== 'linux') throw new Error('This reads /proc, which only Linux has');
  const limit = words.includes('--max') ? Number(words[words.indexOf('--max') + 1]) : Infinity;
  const rows = words.includes('--running') ? running() : await idle();
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  print([...rows, { name: 'in all', count: sum('count'), pss: sum('pss'), rss: sum('rss') }]);
  if (sum('pss') > limit * 1024) {
    console.error(`more than ${limit} MiB`);
    process.exitCode = 1;
  }
}

async function idle() {
  const { startEstate } = await import('./estate.mjs');
  const dataDir = mkdtempSync(join(sharedTemporary(), 'footprint-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  try {
    await delay(SETTLE_MS);
    return measure(estate.pids);
  } finally {
    await estate.stop();
    await estate.discard();
  }
}

function running() {
  const data = process.env.ROOKERY_DATA || fileURLToPath(new URL('../../.rookery', import.meta.url));
  const holder = readRecord(join(data, 'run/supervisor.lock'));
  if (!isAlive(holder)) throw new Error(`No estate runs on ${data}`);
  return measure({ ...readRecord(join(data, 'run/pids.json')), supervisor: holder.pid });
}

/** One row for each named process; descendants (PostgreSQL's) count with it, unless they have a row of their own. */
function measure(pids) {
  const children = new Map();
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const parent = parentOf(pid);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const named = new Set(Object.values(pids));
  const family = (pid) => [
    pid,
    ...(children.get(pid) ?? []).filter((child) => !named.has(child)).flatMap((child) => family(child)),
  ];
  return Object.entries(pids).map(([name, pid]) => {
    const all = family(pid).map(memoryOf);
    const sum = (field) => all.reduce((total, one) => total + one[field], 0);
    return { name, count: all.length, pss: sum('pss'), rss: sum('rss') };
  });
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
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
  const line = (name, count, pss, rss) =>
    console.log(`${name.padEnd(16)}${count.padStart(10)}${pss.padStart(12)}${rss.padStart(12)}`);
  line('process', 'count', 'PSS MiB', 'RSS MiB');
  for (const { name, count, pss, rss } of rows)
    line(name, String(count), (pss / 1024).toFixed(1), (rss / 1024).toFixed(1));
}

await main(process.argv.slice(2));
