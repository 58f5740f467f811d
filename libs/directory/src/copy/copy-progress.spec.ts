import type { Database } from '@rookery/persistence';
import { Readiness } from '@rookery/platform';
import { CopyProgress } from './copy-progress';

const position = { version: 7, epoch: 'e' };
const LONG_MS = 1 << 30;

describe('an applier that gathers changes', () => {
  const never = new AbortController().signal;
  let progress: CopyProgress;
  beforeEach(() => {
    const database = { prepared: () => new Promise(() => undefined) } as unknown as Database;
    progress = new CopyProgress(database, new Readiness(), { directoryWaitMs: LONG_MS } as never);
  });

  it('is called by whoever begins to wait for the copy', async () => {
    const calm = progress.calm(LONG_MS, never);
    const reached = progress.reach(position, LONG_MS);
    await calm;
    progress.moved(position);
    expect(await reached).toBe(true);
  });

  it('does not begin while somebody waits', async () => {
    const reached = progress.reach(position, LONG_MS);
    await progress.calm(LONG_MS, never);
    progress.moved(position);
    expect(await reached).toBe(true);
  });

  it('ends in time, and when the process does', async () => {
    await progress.calm(1, never);
    const stop = new AbortController();
    const calm = progress.calm(LONG_MS, stop.signal);
    stop.abort();
    await calm;
    await progress.calm(LONG_MS, stop.signal);
  });
});

it('has identity asked when what is waited for is not seen to come', async () => {
  const behind = { prepared: () => Promise.resolve([{ version: 6, epoch: 'e', recent: true, today: '2026-01-01' }]) };
  const settings = { directoryWaitMs: LONG_MS } as never;
  const progress = new CopyProgress(behind as unknown as Database, new Readiness(), settings);
  const { haste } = progress;
  const hurried = new Promise((resolve) => haste.addEventListener('abort', resolve, { once: true }));
  const reached = progress.reach(position, LONG_MS);
  await hurried;
  progress.hasten();
  expect(progress.haste.aborted).toBe(false);
  progress.moved(position);
  expect(await reached).toBe(true);
});
