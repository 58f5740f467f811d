/** A closed loop of requests over keep-alive connections. Its own CPU time is nobody's. */
import { Pool } from 'undici';

/**
 * Ends after `count` requests, or `seconds`. Shape: `next(n)` gives `{ method, path, headers, body }`; answers
 * `{ count, seconds, p50, p99, bad }`, latencies in ms.
 */
export async function load(origin, { concurrency, count = Infinity, seconds: most = Infinity, next }) {
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
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
  const at = (part) => latencies[Math.floor(latencies.length * part)];
  return { count: latencies.length, seconds, p50: at(0.5), p99: at(0.99), bad };
}
