/** CPU time of processes and their children, as the kernel counts it (Linux). */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const TICKS_A_SECOND = 100;

/**
 * CPU seconds of processes and all of their descendants, including ended children.
 * @param {number[]} pids
 */
export function cpuSeconds(pids) {
  /** @type {Map<number, number>} */
  const parents = new Map();
  /** @type {Map<number, number>} */
  const ticks = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(fields[1]));
      // Its own time, and that of the children whose end it has seen.
      const used = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      ticks.set(Number(name), used);
    } catch {
      // The process has ended meanwhile.
    }
  }
  /** @type {(pid: number) => boolean} */
  const belongs = (pid) => pids.includes(pid) || (pid > 1 && parents.has(pid) && belongs(parents.get(pid) ?? 0));
  let sum = 0;
  for (const [pid, used] of ticks) if (belongs(pid)) sum += used;
  return sum / TICKS_A_SECOND;
}

const WINDOW_MS = 1_000;
/** Two ticks of the clock, and the cost of a timer. */
const NOISE_SECONDS = 0.03;

/** @param {number[]} pids */
async function measureCpuUse(pids) {
  const [from, before] = [performance.now(), cpuSeconds(pids)];
  await delay(WINDOW_MS);
  return (cpuSeconds(pids) - before) / ((performance.now() - from) / 1000);
}

/**
 * Cores that processes use without requests, for example to poll for work. Resolves to the mean of three consecutive seconds
 * with similar values. Bounds: 60 s, then the minimum.
 * @param {number[]} pids
 */
export async function measureIdleCpu(pids) {
  /** @type {number[]} */
  const seen = [];
  for (let seconds = 0; seconds < 60; seconds += 1) {
    seen.push(await measureCpuUse(pids));
    const last = seen.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) <= NOISE_SECONDS)
      return last.reduce((sum, one) => sum + one, 0) / 3;
  }
  return Math.min(...seen);
}

/**
 * Waits until processes use no more CPU than while idle. Bounds: 60 s, then an error, because the result would be invalid.
 * @param {number[]} pids
 * @param {number} idle
 */
export async function waitUntilCpuIdle(pids, idle) {
  for (let seconds = 0; seconds < 60; seconds += 1) if ((await measureCpuUse(pids)) <= idle + NOISE_SECONDS) return;
  throw new Error(`the stack did not become idle within a minute (idle CPU: ${idle.toFixed(3)} of a core)`);
}
