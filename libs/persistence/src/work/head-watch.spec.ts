import { ShutdownOrder } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { Database } from './database';
import { HeadWatch } from './head-watch';
import type { Head } from './head-watch';
import { prepared } from '../sql/prepared';

const LONG_MS = 1 << 30;
const statement = prepared('head_watch_spec', 'select version, epoch');

let head: Head;
let looks: number;
let watch: HeadWatch;
beforeEach(() => {
  jest.useFakeTimers();
  head = { version: 5, epoch: 'e' };
  looks = 0;
  const database = { prepared: () => ((looks += 1), Promise.resolve([head])) } as unknown as Database;
  const silent = { info: () => undefined, warn: () => undefined } as unknown as Logger;
  watch = new HeadWatch(database, new ShutdownOrder(silent), statement, { busyMs: 100, calmMs: 1000 });
});
afterEach(() => {
  jest.useRealTimers();
});

async function looksWithin(ms: number): Promise<number> {
  const before = looks;
  await jest.advanceTimersByTimeAsync(ms);
  return looks - before;
}

it('looks often while something moves, once a second when nothing did for ten', async () => {
  void watch.beyond(head, LONG_MS);
  expect(await looksWithin(5000)).toBeGreaterThan(40);
  await looksWithin(10_000);
  expect(await looksWithin(10_000)).toBeLessThanOrEqual(10);
  head = { version: 6, epoch: 'e' };
  await looksWithin(1000);
  void watch.beyond(head, LONG_MS);
  expect(await looksWithin(5000)).toBeGreaterThan(40);
});

it('tells of a commit of another replica within a second, however long nothing moved', async () => {
  const moved = watch.beyond(head, LONG_MS);
  await looksWithin(60_000);
  head = { version: 6, epoch: 'e' };
  await looksWithin(1000);
  expect(await Promise.race([moved, Promise.resolve('waits')])).toBe(true);
});

it('lets those ask anew who wait at a version that the database does not know', async () => {
  head = { version: 3, epoch: 'e' };
  const moved = watch.beyond({ version: 5, epoch: 'e' }, LONG_MS);
  await looksWithin(1000);
  expect(await Promise.race([moved, Promise.resolve('waits')])).toBe(false);
});

it('leaves its own looks out while another makes them', async () => {
  void watch.beyond(head, LONG_MS);
  await looksWithin(15_000);
  const before = looks;
  for (let turn = 0; turn < 20; turn += 1) {
    await watch.look();
    await jest.advanceTimersByTimeAsync(900);
  }
  expect(looks - before).toBe(20);
  expect(await looksWithin(5000)).toBeGreaterThan(3);
});

it('tells whether a look that began since then found a version', async () => {
  const from = performance.now();
  expect(watch.hasSeen(5, from)).toBe(false);
  await watch.look();
  expect(watch.hasSeen(5, from)).toBe(true);
  expect(watch.hasSeen(4, from)).toBe(false);
  await jest.advanceTimersByTimeAsync(10);
  expect(watch.hasSeen(5, performance.now())).toBe(false);
});
