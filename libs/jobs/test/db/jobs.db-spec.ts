import { int, object, text } from '@rookery/contracts';
import { runMigrations } from '@rookery/persistence';
import { testDatabase, testDatabaseWithRoles, until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { defineJob } from '../../src';
import { failing, kept, lasting, plain, ProbeJob, replaced, serial } from '../support/probe.job';
import { migrations, newService } from '../support/service';
import type { TestService } from '../support/service';

describe('jobs', () => {
  let test: TestDatabase;
  const started: TestService[] = [];

  beforeEach(async () => {
    ProbeJob.reset();
    test = await testDatabase('jobs', migrations);
  });
  afterEach(async () => {
    for (const service of started.splice(0)) await service.stop();
    await test.drop();
  });
  const service = async (): Promise<TestService> => {
    const made = await newService({ url: test.url, jobs: [ProbeJob] });
    started.push(made);
    return made;
  };
  const queued = async ({ database }: TestService) =>
    (await database.query<{ n: number }>('select count(*)::int as n from graphile_worker.jobs'))[0]!.n;

  it('are dropped by a rollback and begun by the commit', async () => {
    const one = await service();
    const refused = one.work.run(async (tx) => {
      await one.jobs.enqueue(tx, plain, { item_id: 1 });
      throw new Error('no');
    });
    await expect(refused).rejects.toThrow('no');
    await expect(queued(one)).resolves.toBe(0);
    one.start();
    const id = await one.work.run((tx) => one.jobs.enqueue(tx, plain, { item_id: 2 }));
    await until(async () => (await one.jobs.findStatus(id))?.state === 'done');
    await expect(one.marks('plain')).resolves.toEqual(['2']);
    await until(async () => (await queued(one)) === 0);
  });

  it('are queued, run and tried again by a role that has rights to rows only', async () => {
    const restricted = await testDatabaseWithRoles();
    await runMigrations(restricted.ownerUrl, migrations, { serviceRole: restricted.service });
    const one = await newService({ url: restricted.serviceUrl, jobs: [ProbeJob] });
    try {
      one.start();
      ProbeJob.poison.add(4);
      const ids = await one.work.run(async (tx) => [
        await one.jobs.enqueue(tx, plain, { item_id: 3 }),
        await one.jobs.enqueue(tx, failing, { item_id: 4 }),
      ]);
      const states = () => Promise.all(ids.map(async (id) => (await one.jobs.findStatus(id))?.state));
      await until(async () => String(await states()) === 'done,dead');
      await expect(one.marks('plain')).resolves.toEqual(['3']);
      await expect(one.marks('failing')).resolves.toEqual(['4 1', '4 2', '4 3']);
      await until(async () => (await queued(one)) === 0);
    } finally {
      await one.stop();
      await restricted.drop();
    }
  });

  it('wake a worker at the commit, long before its next poll', async () => {
    const made = await newService({ url: test.url, jobs: [ProbeJob], env: { JOBS_POLL_MS: '60000' } });
    started.push(made);
    made.start();
    await until(async () => (await made.database.query('select 1 from background_workers')).length === 1);
    // From then on it receives every notification, whether its first poll is over or not.
    const listening = `select 1 from pg_stat_activity
      where datname = current_database() and state = 'idle' and query ilike 'listen %'`;
    await until(async () => (await made.database.query(listening)).length > 0, 'a worker that listens');
    await made.work.run((tx) => made.jobs.enqueue(tx, plain, { item_id: 1 }));
    await until(async () => (await made.marks('plain')).length === 1);
  });

  it('wait until they are due', async () => {
    const one = await service();
    one.start();
    const at = new Date(Date.now() + 600);
    await one.work.run((tx) => one.jobs.enqueue(tx, plain, { item_id: 1 }, { at }));
    await until(async () => (await one.marks('plain')).length === 1);
    expect(Date.now()).toBeGreaterThanOrEqual(at.getTime());
  });

  it('are refused without a handler, or with invalid parameters', async () => {
    const one = await service();
    const unheardOf = defineJob('unheard-of', object({}));
    const withoutHandler = one.work.run((tx) => one.jobs.enqueue(tx, unheardOf, {}));
    await expect(withoutHandler).rejects.toThrow('no provider handles');
    // @ts-expect-error -- the compiler refuses it as well
    const wrong = one.work.run((tx) => one.jobs.enqueue(tx, plain, { item_id: 'one' }));
    await expect(wrong).rejects.toThrow('$.item_id is not an integer');
    expect(() => defineJob('bad', object({ title: text }))).toThrow('carry a text');
    expect(() => defineJob('Bad name', object({ id: int }))).toThrow('kebab-case');
    await expect(queued(one)).resolves.toBe(0);
  });

  it('with one key wait once: the last one counts, or keeps the due time of the first', async () => {
    const one = await service();
    const later = new Date(Date.now() + 3_600_000);
    const ask = (job: typeof replaced | typeof kept, id: number, at?: Date) =>
      one.work.run((tx) => one.jobs.enqueue(tx, job, { item_id: id }, at ? { at } : {}));
    const first = await ask(replaced, 1, later);
    await expect(ask(replaced, 11)).resolves.toBe(first);
    await ask(replaced, 2);
    const waiting = await ask(kept, 1, later);
    await expect(ask(kept, 11)).resolves.toBe(waiting);
    one.start();
    await until(async () => (await one.marks('replaced')).length === 2);
    expect((await one.marks('replaced')).sort()).toEqual(['11', '2']);
    await until(async () => (await queued(one)) === 1);
    await expect(one.marks('kept')).resolves.toEqual([]);
    await expect(one.jobs.findStatus(waiting)).resolves.toMatchObject({ state: 'waiting' });
  });

  it('with one key run again when one was enqueued while another ran', async () => {
    const one = await service();
    let open = (): void => undefined;
    ProbeJob.gate = new Promise((resolve) => (open = resolve));
    one.start();
    const first = await one.work.run((tx) => one.jobs.enqueue(tx, replaced, { item_id: 1 }));
    await until(async () => (await one.marks('replaced')).length === 1);
    const second = await one.work.run((tx) => one.jobs.enqueue(tx, replaced, { item_id: 11 }));
    expect(second).not.toBe(first);
    open();
    await until(async () => (await one.jobs.findStatus(second))?.state === 'done');
    await expect(one.marks('replaced')).resolves.toEqual(['1', '11']);
    await until(async () => (await queued(one)) === 0);
  });

  it('are never lost when two transactions enqueue at once while a worker takes a job', async () => {
    const [one, two] = [await service(), await service()];
    one.start();
    two.start();
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(
        [one, two].map((at) => at.work.run((tx) => at.jobs.enqueue(tx, replaced, { item_id: round * 10 }))),
      );
    }
    await until(async () => (await queued(one)) === 0);
    // Two jobs that run at once may leave their marks in either order.
    expect(await one.marks('replaced')).toContain('390');
  });

  it('of one queue run one after the other, across two workers', async () => {
    const [one, two] = [await service(), await service()];
    one.start();
    two.start();
    await one.work.run(async (tx) => {
      for (let id = 1; id <= 6; id += 1) await one.jobs.enqueue(tx, serial, { item_id: id });
    });
    await until(async () => (await one.marks('serial')).length === 12);
    const marks = await one.marks('serial');
    for (let at = 0; at < marks.length; at += 2) {
      expect(marks[at + 1]).toBe(marks[at]!.replace('begin', 'end'));
    }
  });

  it('report their progress', async () => {
    const one = await service();
    let open = (): void => undefined;
    ProbeJob.gate = new Promise((resolve) => (open = resolve));
    one.start();
    const id = await one.work.run((tx) => one.jobs.enqueue(tx, lasting, { item_id: 1 }));
    await until(async () => (await one.jobs.findStatus(id))?.done === 50);
    await expect(one.jobs.findStatus(id)).resolves.toMatchObject({
      ...{ id, name: 'lasting', state: 'running', tries: 1, done: 50, total: 100, note: 'counting' },
      ...{ isCancelAsked: false, endedAt: null },
    });
    open();
    await until(async () => (await one.jobs.findStatus(id))?.state === 'done');
    await expect(one.jobs.findStatus(id)).resolves.toMatchObject({ done: 100, endedAt: expect.any(Date) as Date });
    await expect(one.jobs.findStatus(id + 1000)).resolves.toBeNull();
  });

  it('are cancelled while they wait, and while they run in another process', async () => {
    const [one, two] = [await service(), await service()];
    const cancel = (id: number) => two.work.run((tx) => two.jobs.cancelJob(tx, id));
    const waiting = await one.work.run((tx) => one.jobs.enqueue(tx, plain, { item_id: 1 }));
    await expect(cancel(waiting)).resolves.toBe(true);
    await expect(cancel(waiting)).resolves.toBe(false);
    one.start();
    let [open, wasAborted] = [(): void => undefined, false];
    ProbeJob.gate = new Promise((resolve) => (open = resolve));
    ProbeJob.onAbort = () => void (wasAborted = true);
    const id = await one.work.run((tx) => one.jobs.enqueue(tx, lasting, { item_id: 2 }));
    await until(async () => (await one.jobs.findStatus(id))?.done === 50);
    await expect(cancel(id)).resolves.toBe(true);
    await expect(two.jobs.findStatus(id)).resolves.toMatchObject({ state: 'running', isCancelAsked: true });
    await until(() => wasAborted, 'the abort signal');
    open();
    await until(async () => (await two.jobs.findStatus(id))?.state === 'cancelled');
    await expect(one.jobs.findStatus(id)).resolves.toMatchObject({ tries: 1 });
    await expect(one.jobs.findStatus(waiting)).resolves.toMatchObject({ state: 'cancelled', tries: 0 });
    await until(async () => (await queued(one)) === 0);
    await expect(one.marks('lasting')).resolves.toEqual(['2 1']);
    await expect(one.marks('plain')).resolves.toEqual([]);
  });

  it('are counted at a scrape', async () => {
    const one = await service();
    const later = new Date(Date.now() + 3_600_000);
    await one.work.run(async (tx) => {
      await one.jobs.enqueue(tx, plain, { item_id: 1 }, { at: later });
      await one.jobs.enqueue(tx, plain, { item_id: 2 });
    });
    one.start();
    await until(async () => (await one.marks('plain')).length === 1);
    await until(async () => (await queued(one)) === 1);
    const { body } = await one.metrics.text();
    expect(body).toContain('rookery_jobs{job="plain",state="later"} 1');
    expect(body).toContain('rookery_jobs_done_total{job="plain"} 1');
    expect(body).toContain('rookery_job_duration_seconds_count{job="plain"} 1');
  });
});
