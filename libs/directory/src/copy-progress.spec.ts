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
