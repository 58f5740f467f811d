/** A closed loop of requests over keep-alive connections. Its own CPU time is nobody's. */
import { Pool } from 'undici';

/**
 * Shape: `next(n)` gives `{ method, path, headers, body }`; answers `{ count, seconds, p50, p99, bad }`, latencies in ms.
 */
export async function load(origin, { concurrency, count, next }) {
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  const latencies = new Float64Array(count);
  let started = 0;
  let bad = 0;
  const lane = async () => {
    for (let index = started++; index < count; index = started++) {
      const from = process.hrtime.bigint();
      const { statusCode, body } = await pool.request(next(index));
      await body.dump();
      latencies[index] = Number(process.hrtime.bigint() - from) / 1e6;
      if (statusCode >= 300) bad += 1;
    }
  };
  const from = process.hrtime.bigint();
  await Promise.all(Array.from({ length: concurrency }, lane));
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  await pool.close();
  latencies.sort();
  return { count, seconds, p50: latencies[Math.floor(count * 0.5)], p99: latencies[Math.floor(count * 0.99)], bad };
}
