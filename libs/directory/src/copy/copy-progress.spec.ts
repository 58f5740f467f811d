import type { Database } from '@rookery/persistence';
import { Readiness } from '@rookery/platform';
import { DirectoryCopyProgress } from './copy-progress';

const position = { version: 7, epoch: 'e' };
const LONG_MS = 1 << 30;

describe('the pause of an applier that collects changes', () => {
  const never = new AbortController().signal;
  let progress: DirectoryCopyProgress;
  beforeEach(() => {
    const database = { prepared: () => new Promise(() => undefined) } as unknown as Database;
    progress = new DirectoryCopyProgress(database, new Readiness(), { directoryWaitMs: LONG_MS } as never);
  });

  it('ends when a request begins to wait for the copy', async () => {
    const demanded = progress.waitForDemand(LONG_MS, never);
    const reached = progress.waitForPosition(position, LONG_MS);
    await demanded;
    progress.reportPosition(position);
    expect(await reached).toBe(true);
  });

  it('does not begin while a request waits', async () => {
    const reached = progress.waitForPosition(position, LONG_MS);
    await progress.waitForDemand(LONG_MS, never);
    progress.reportPosition(position);
    expect(await reached).toBe(true);
  });

  it('ends after its time, and when the process stops', async () => {
    await progress.waitForDemand(1, never);
    const stop = new AbortController();
    const demanded = progress.waitForDemand(LONG_MS, stop.signal);
    stop.abort();
    await demanded;
    await progress.waitForDemand(LONG_MS, stop.signal);
  });
});

it('requests a poll of identity when a version does not arrive', async () => {
  const behind = { prepared: () => Promise.resolve([{ version: 6, epoch: 'e', recent: true, today: '2026-01-01' }]) };
  const settings = { directoryWaitMs: LONG_MS } as never;
  const progress = new DirectoryCopyProgress(behind as unknown as Database, new Readiness(), settings);
  const { urgency } = progress;
  const requested = new Promise((resolve) => urgency.addEventListener('abort', resolve, { once: true }));
  const reached = progress.waitForPosition(position, LONG_MS);
  await requested;
  progress.resetUrgency();
  expect(progress.urgency.aborted).toBe(false);
  progress.reportPosition(position);
  expect(await reached).toBe(true);
});
