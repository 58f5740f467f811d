import { Unavailable } from '@rookery/kernel';
import { runForWaiter, runWithoutDeadline } from '@rookery/platform';
import { until } from '@rookery/testing';
import { startService } from '../support/service';
import type { TestService } from '../support/service';
import { LanePools, LANES } from '../../src/connections/lanes';

/** Longer than any test takes, shorter than the test timeout. Units: milliseconds. */
const LONG_MS = 40_000;

/** Runs as a request whose client waits up to `waitMs`. */
function request<T>(waitMs: number, use: () => Promise<T>): Promise<T> {
  return runForWaiter({ kind: 'client', deadline: Date.now() + waitMs }, use);
}

describe('connections by caller', () => {
  let service: TestService;
  beforeAll(async () => void (service = await startService({ settings: { DATABASE_POOL_COUNT: '5' } })));
  afterAll(() => service.stop());

  const as = <T>(caller: number | string, use: () => Promise<T>, waitMs = LONG_MS): Promise<T> =>
    runForWaiter({ kind: 'client', deadline: Date.now() + waitMs, caller }, use);
  const one = () => service.database.query('select 1');
  /** Starts `count` transactions of a caller; returns how to end each. */
  async function hold(caller: number | string, count: number) {
    let begun = 0;
    const running = Array.from({ length: count }, () => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const done = as(caller, () => service.work.run(() => ((begun += 1), ended)));
      return { end, done };
    });
    return { running, begun: () => begun };
  }

  it('are limited to two in five for one caller, even if others are free, and another two for the next', async () => {
    const { running, begun } = await hold(7, 5);
    await until(() => begun() === 2);
    await until(() => service.database.pool.countWaiting('requests') === 3);
    await expect(as(7, one, 500)).rejects.toMatchObject({ code: 'unavailable', reason: 'database busy' });
    const other = await hold('192.0.2.1', 5);
    await until(() => other.begun() === 2);
    await expect(as(8, one)).resolves.toHaveLength(1);
    expect([begun(), other.begun()]).toEqual([2, 2]);
    running[0]!.end();
    await until(() => begun() === 3);
    [...running, ...other.running].forEach(({ end }) => end());
    await Promise.all([...running, ...other.running].map(({ done }) => done));
    expect([begun(), other.begun()]).toEqual([5, 5]);
  });

  it('go to the waiting caller that holds fewest', async () => {
    const [first, second, third] = [await hold(1, 2), await hold(2, 2), await hold(3, 1)];
    await until(() => first.begun() + second.begun() + third.begun() === 5);
    const again = await hold(3, 1);
    const order: string[] = [];
    const late = as(3, async () => void (await one(), order.push('late')));
    const fresh = as(4, async () => void (await one(), order.push('fresh')));
    await until(() => service.database.pool.countWaiting('requests') === 3);
    expect(again.begun()).toBe(0);
    first.running[0]!.end();
    await fresh;
    expect([order, again.begun()]).toEqual([['fresh'], 0]);
    for (const { running } of [first, second, third, again]) running.forEach(({ end }) => end());
    await late;
    await Promise.all([first, second, third, again].flatMap(({ running }) => running.map(({ done }) => done)));
  });

  it.each([
    ['one caller', () => 7],
    ['many callers', (index: number) => index],
  ])('are available for independent units of work while requests of %s hold all others', async (_, callerOf) => {
    const most = callerOf(0) === callerOf(1) ? 2 : 5;
    let begun = 0;
    const isFull = until(() => begun >= most);
    const done = Array.from({ length: 6 }, (_each, index) =>
      as(callerOf(index), () =>
        service.work.runInOneTransaction(async () => {
          begun += 1;
          await isFull;
          return service.work.runIndependent((tx) => tx.query('select 1'));
        }),
      ),
    );
    await expect(Promise.all(done)).resolves.toHaveLength(6);
  });

  it('are not given to clients that left, neither at once nor after a wait', async () => {
    let hasLeft = true;
    const read = () =>
      runForWaiter({ kind: 'client', deadline: Date.now() + LONG_MS, caller: 7, isGone: () => hasLeft }, one);
    await as(7, one);
    await expect(read()).rejects.toMatchObject({ reason: 'gone' });
    hasLeft = false;
    await expect(read()).resolves.toHaveLength(1);
    const { running, begun } = await hold(7, 2);
    await until(() => begun() === 2);
    const waiting = read();
    await until(() => service.database.pool.countWaiting('requests') === 1);
    hasLeft = true;
    running[0]!.end();
    await expect(waiting).rejects.toMatchObject({ reason: 'gone' });
    await expect(as(7, one)).resolves.toHaveLength(1);
    running[1]!.end();
    await Promise.all(running.map(({ done }) => done));
  });

  it("return to the caller's share after a failed connect", async () => {
    const { pool } = service.database;
    const { Client } = pool as unknown as { Client: typeof import('pg').Client };
    await Promise.all(Array.from({ length: 5 }, (_, id) => as(id, one)));
    const refused = jest
      .spyOn(Client.prototype, 'connect')
      .mockImplementation(((done: (error: Error) => void) =>
        process.nextTick(done, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))) as never);
    await as(9, () =>
      service.database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      ),
    );
    await as(9, () => service.database.query('select pg_terminate_backend(pg_backend_pid())')).catch(() => undefined);
    await until(() => pool.totalCount === 0);
    for (let n = 0; n < 4; n += 1) await expect(as(7, one)).rejects.toBeInstanceOf(Unavailable);
    refused.mockRestore();
    await expect(as(7, one)).resolves.toHaveLength(1);
  });
});

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
  afterEach(() => held.splice(0).forEach((release) => release()));

  /** Takes a connection of the current lane and keeps it until it is released by `held`. */
  async function hold(take: (use: () => Promise<unknown>) => Promise<unknown>): Promise<void> {
    let release: () => void = () => undefined;
    const end = new Promise<void>((resolve) => (release = resolve));
    let isHeld = false;
    // On a slow machine, opening one may take several tries.
    const keep = (): Promise<unknown> =>
      take(() => service.work.run(() => ((isHeld = true), end))).catch(() => (isHeld ? undefined : keep()));
    void keep();
    await until(() => isHeld);
    held.push(release);
  }
  const one = () => service.database.query<{ one: number }>('select 1 as one');

  it('lets a request wait until its own deadline, not for a fixed time', async () => {
    await hold((use) => request(LONG_MS, use));
    const waiting = request(LONG_MS, one);
    // This refusal shows that more time has passed than work without a deadline waits.
    await expect(request(3000, one)).rejects.toMatchObject({ code: 'unavailable', reason: 'database busy' });
    held.pop()!();
    await expect(waiting).resolves.toEqual([{ one: 1 }]);
  });

  it('refuses a request at once if its deadline has passed', async () => {
    await expect(request(-1, one)).rejects.toMatchObject({ reason: 'deadline' });
  });

  it('separates connections of clients, other processes and background work', async () => {
    await hold((use) => use());
    await hold((use) => use());
    await expect(one()).rejects.toBeInstanceOf(Unavailable);
    await expect(request(LONG_MS, one)).resolves.toEqual([{ one: 1 }]);
    await hold((use) => request(LONG_MS, use));
    await expect(runWithoutDeadline(one)).resolves.toEqual([{ one: 1 }]);
    for (const release of held.splice(0)) release();
    await expect(one()).resolves.toEqual([{ one: 1 }]);
  });

  it('uses generic plans in the background, and plans by values for requests', async () => {
    const kept = async () =>
      (await service.database.query<{ mode: string }>("select current_setting('plan_cache_mode') as mode"))[0]!.mode;
    expect(await kept()).toBe('force_generic_plan');
    expect(await request(LONG_MS, kept)).toBe('auto');
    expect(await runWithoutDeadline(kept)).toBe('auto');
  });

  it('gives a connection to the next caller if the deadline has passed', async () => {
    await hold((use) => request(LONG_MS, use));
    await expect(request(500, one)).rejects.toMatchObject({ reason: 'database busy' });
    const next = request(LONG_MS, one);
    held.pop()!();
    await expect(next).resolves.toEqual([{ one: 1 }]);
    expect(service.database.pool.countWaiting('requests')).toBe(0);
  });

  it('treats work after the answer as background work', async () => {
    let proceed: () => void = () => undefined;
    const later = new Promise<void>((resolve) => (proceed = resolve));
    let after: Promise<unknown> = Promise.resolve();
    await request(LONG_MS, () => {
      after = later.then(one);
      return Promise.resolve();
    });
    await hold((use) => request(LONG_MS, use));
    proceed();
    await expect(after).resolves.toEqual([{ one: 1 }]);
    held.pop()!();
  });
});

it('keeps two unused connections for requests open, and none of the others', async () => {
  const service = await startService({});
  const counts = { requests: 5, internal: 3, background: 3, apart: 2 };
  const pool = new LanePools({
    connectionString: service.url,
    idleTimeoutMillis: 50,
    lanes: { counts, waitMs: LONG_MS },
  });
  const open = (): number[] => LANES.map((lane) => pool.poolOf(lane).totalCount);
  try {
    const requests = await Promise.all(Array.from({ length: 5 }, () => request(LONG_MS, () => pool.connect())));
    const others = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    expect(open()).toEqual([5, 0, 3, 0]);
    for (const client of [...requests, ...others]) client.release();
    await until(() => open().join() === '2,0,0,0');
    await expect(request(LONG_MS, () => pool.query('select 1 as one'))).resolves.toMatchObject({ rows: [{ one: 1 }] });
  } finally {
    await pool.end();
    await service.stop();
  }
});
