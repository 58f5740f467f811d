import { Unavailable } from '@rookery/kernel';
import { awaitedBy, awaitedByMany } from '@rookery/platform';
import { until } from '@rookery/testing';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

/** Longer than any test takes, and shorter than it may. Units: milliseconds. */
const LONG_MS = 40_000;

/** Runs as a request whose client waits so long. */
function request<T>(waitMs: number, use: () => Promise<T>): Promise<T> {
  return awaitedBy({ kind: 'client', deadline: Date.now() + waitMs }, use);
}

describe('connections by lane', () => {
  let service: TestService;
  let held: (() => void)[];

  beforeAll(async () => {
    service = await startService({
      settings: {
        DATABASE_POOL_COUNT: '1',
        DATABASE_INTERNAL_POOL_COUNT: '1',
        DATABASE_BACKGROUND_POOL_COUNT: '2',
        DATABASE_POOL_WAIT_MS: '2000',
      },
    });
  });
  afterAll(() => service.stop());
  beforeEach(() => (held = []));
  afterEach(() => held.splice(0).forEach((letGo) => letGo()));

  /** Takes a connection within the current lane and keeps it until `let go`. */
  async function hold(take: (use: () => Promise<unknown>) => Promise<unknown>): Promise<void> {
    let letGo: () => void = () => undefined;
    const end = new Promise<void>((resolve) => (letGo = resolve));
    let isHeld = false;
    // A slow machine may need several tries to open one.
    const keep = (): Promise<unknown> =>
      take(() => service.work.run(() => ((isHeld = true), end))).catch(() => (isHeld ? undefined : keep()));
    void keep();
    await until(() => isHeld);
    held.push(letGo);
  }
  const one = () => service.database.query<{ one: number }>('select 1 as one');

  it('lets a request wait until its own deadline, not for a fixed time', async () => {
    await hold((use) => request(LONG_MS, use));
    const waiting = request(LONG_MS, one);
    // One that cannot wait that long shows that more time has passed than work without a deadline waits.
    await expect(request(3000, one)).rejects.toMatchObject({ code: 'unavailable', reason: 'database busy' });
    held.pop()!();
    await expect(waiting).resolves.toEqual([{ one: 1 }]);
  });

  it('refuses at once whose deadline has passed', async () => {
    await expect(request(-1, one)).rejects.toMatchObject({ reason: 'deadline' });
  });

  it('keeps requests, questions of processes and background work from taking connections of each other', async () => {
    await hold((use) => use());
    await hold((use) => use());
    await expect(one()).rejects.toBeInstanceOf(Unavailable);
    await expect(request(LONG_MS, one)).resolves.toEqual([{ one: 1 }]);
    await hold((use) => request(LONG_MS, use));
    await expect(awaitedByMany(one)).resolves.toEqual([{ one: 1 }]);
    for (const letGo of held.splice(0)) letGo();
    await expect(one()).resolves.toEqual([{ one: 1 }]);
  });

  it('keeps one plan for all lists of ids in the background, and plans filters of requests by their values', async () => {
    const kept = async () =>
      (await service.database.query<{ mode: string }>("select current_setting('plan_cache_mode') as mode"))[0]!.mode;
    expect(await kept()).toBe('force_generic_plan');
    expect(await request(LONG_MS, kept)).toBe('auto');
    expect(await awaitedByMany(kept)).toBe('auto');
  });

  it('hands a connection on when its turn comes after its deadline', async () => {
    await hold((use) => request(LONG_MS, use));
    await expect(request(20, one)).rejects.toMatchObject({ reason: 'database busy' });
    const next = request(LONG_MS, one);
    held.pop()!();
    await expect(next).resolves.toEqual([{ one: 1 }]);
    expect(service.database.pool.of('requests').waitingCount).toBe(0);
  });

  it('counts what goes on after the answer as background work', async () => {
    let goOn: () => void = () => undefined;
    const later = new Promise<void>((resolve) => (goOn = resolve));
    let after: Promise<unknown> = Promise.resolve();
    await request(LONG_MS, () => {
      after = later.then(one);
      return Promise.resolve();
    });
    await hold((use) => request(LONG_MS, use));
    goOn();
    await expect(after).resolves.toEqual([{ one: 1 }]);
    held.pop()!();
  });
});
