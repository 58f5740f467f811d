/** CPU time of processes and their children, as the kernel counts it (Linux). */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const TICKS_A_SECOND = 100;

/** Seconds of these processes and all below them, ended children included. */
export function cpuSeconds(pids) {
  const parents = new Map();
  const ticks = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(fields[1]));
      ticks.set(
        Number(name),
        Number(fields[11]) +
          Number(fields[12]) +
          (pids.includes(Number(name)) ? Number(fields[13]) + Number(fields[14]) : 0),
      );
    } catch {
      // It ended while we looked.
    }
  }
  const belongs = (pid) => pids.includes(pid) || (parents.has(pid) && pid > 1 && belongs(parents.get(pid)));
  let sum = 0;
  for (const [pid, used] of ticks) if (belongs(pid)) sum += used;
  return sum / TICKS_A_SECOND;
}

const WINDOW_MS = 1_000;
/** Two ticks of the clock and what a timer more or less costs. */
const NOISE_SECONDS = 0.03;

async function used(pids) {
  const [from, before] = [performance.now(), cpuSeconds(pids)];
  await delay(WINDOW_MS);
  return (cpuSeconds(pids) - before) / ((performance.now() - from) / 1000);
}

/**
 * Cores that they use while nobody asks anything: looking whether there is work is no work of a request. The mean of
 * three seconds in turn that are alike. Bounds: 60 s, then the least that was seen.
 */
export async function idleDraw(pids) {
  const seen = [];
  for (let seconds = 0; seconds < 60; seconds += 1) {
    seen.push(await used(pids));
    const last = seen.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) <= NOISE_SECONDS)
      return last.reduce((sum, one) => sum + one, 0) / 3;
  }
  return Math.min(...seen);
}

/** Waits until they use no more than while idle. Bounds: 60 s, then an error: such a figure would say nothing. */
export async function quiet(pids, idle) {
  for (let seconds = 0; seconds < 60; seconds += 1) if ((await used(pids)) <= idle + NOISE_SECONDS) return;
  throw new Error(`the stack did not come to rest within a minute (it idles at ${idle.toFixed(3)} of a core)`);
}
