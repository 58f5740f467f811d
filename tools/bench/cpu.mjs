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

/** Waits until they use less than 3 % of one core over half a second. Bounds: 30 s. */
export async function quiet(pids) {
  const until = Date.now() + 30_000;
  for (let before = cpuSeconds(pids); Date.now() < until;) {
    await delay(500);
    const now = cpuSeconds(pids);
    if (now - before <= 0.03) return;
    before = now;
  }
}
