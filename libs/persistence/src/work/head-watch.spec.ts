import { ShutdownOrder } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { Database } from './database';
import { HeadWatch } from './head-watch';
import type { LogHead } from './head-watch';
import { prepareStatement } from '../sql/prepared';

const LONG_MS = 1 << 30;
const statement = prepareStatement('head_watch_spec', 'select version, epoch');

let head: LogHead;
let queries: number;
let watch: HeadWatch;
beforeEach(() => {
  jest.useFakeTimers();
  head = { version: 5, epoch: 'e' };
  queries = 0;
  const database = { prepared: () => ((queries += 1), Promise.resolve([head])) } as unknown as Database;
  const silent = { info: () => undefined, warn: () => undefined } as unknown as Logger;
  watch = new HeadWatch(database, new ShutdownOrder(silent), statement, { busyMs: 100, calmMs: 1000 });
});
afterEach(() => {
  jest.useRealTimers();
});

async function countQueriesWithin(ms: number): Promise<number> {
  const before = queries;
  await jest.advanceTimersByTimeAsync(ms);
  return queries - before;
}

it('queries often while the version increases, and once a second after ten seconds without an increase', async () => {
  void watch.waitPast(head, LONG_MS);
  expect(await countQueriesWithin(5000)).toBeGreaterThan(40);
  await countQueriesWithin(10_000);
  expect(await countQueriesWithin(10_000)).toBeLessThanOrEqual(10);
  head = { version: 6, epoch: 'e' };
  await countQueriesWithin(1000);
  void watch.waitPast(head, LONG_MS);
  expect(await countQueriesWithin(5000)).toBeGreaterThan(40);
});

it('reports a commit of another replica within a second, however long the pause before it', async () => {
  const moved = watch.waitPast(head, LONG_MS);
  await countQueriesWithin(60_000);
  head = { version: 6, epoch: 'e' };
  await countQueriesWithin(1000);
  expect(await Promise.race([moved, Promise.resolve('waits')])).toBe(true);
});

it('answers "not moved" to callers at a version that the database does not know', async () => {
  head = { version: 3, epoch: 'e' };
  const moved = watch.waitPast({ version: 5, epoch: 'e' }, LONG_MS);
  await countQueriesWithin(1000);
  expect(await Promise.race([moved, Promise.resolve('waits')])).toBe(false);
});

it('skips its own queries while `look` is called from outside', async () => {
  void watch.waitPast(head, LONG_MS);
  await countQueriesWithin(15_000);
  const before = queries;
  for (let turn = 0; turn < 20; turn += 1) {
    await watch.readRow();
    await jest.advanceTimersByTimeAsync(900);
  }
  expect(queries - before).toBe(20);
  expect(await countQueriesWithin(5000)).toBeGreaterThan(3);
});

it('knows whether a query that began since then found a version', async () => {
  const from = performance.now();
  expect(watch.hasSeen(5, from)).toBe(false);
  await watch.readRow();
  expect(watch.hasSeen(5, from)).toBe(true);
  expect(watch.hasSeen(4, from)).toBe(false);
  await jest.advanceTimersByTimeAsync(10);
  expect(watch.hasSeen(5, performance.now())).toBe(false);
});
