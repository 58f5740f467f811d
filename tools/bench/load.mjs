/** A closed loop of requests over keep-alive connections, in a process whose CPU time is not measured. */
import { Pool } from 'undici';

/**
 * Sends requests until `count` are done or `seconds` have passed. `next(n)` returns the n-th request. Resolves to latencies
 * in ms, and the number of answers other than 2xx (`bad`).
 * @typedef {{ method: import('undici').Dispatcher.HttpMethod, path: string, headers: Record<string, string>, body?: string }} Request
 * @param {string} origin
 * @param {{ concurrency: number, count?: number, seconds?: number, next(index: number): Request }} options
 */
export async function load(origin, { concurrency, count = Infinity, seconds: most = Infinity, next }) {
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  /** @type {number[]} */
  const latencies = [];
  let started = 0;
  let bad = 0;
  const from = process.hrtime.bigint();
  const isOver = () => started >= count || Number(process.hrtime.bigint() - from) / 1e9 >= most;
  const lane = async () => {
    while (!isOver()) {
      const index = started++;
      const from = process.hrtime.bigint();
      const { statusCode, body } = await pool.request(next(index));
      await body.dump();
      latencies.push(Number(process.hrtime.bigint() - from) / 1e6);
      if (statusCode >= 300) bad += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  await pool.close();
  latencies.sort((a, b) => a - b);
  /** @param {number} part */
  const at = (part) => latencies[Math.floor(latencies.length * part)] ?? NaN;
  return { count: latencies.length, seconds, p50: at(0.5), p99: at(0.99), bad };
}
