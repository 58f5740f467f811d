import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { deadLetterCommands, runMigrations } from '@rookery/persistence';
import type { BootContext } from '@rookery/platform';
import { testDatabase, until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { EveryMinuteJob, failing, lasting, plain, ProbeJob, stubborn } from '../support/probe.job';
import { migrations, newService, withoutQueue } from '../support/service';
import type { TestService } from '../support/service';

const HOOK = join(__dirname, '../../../../tools/jest/typescript-hook.cjs');
const WORKER = join(__dirname, '../support/worker.process.ts');

describe('failing jobs and lost workers', () => {
  let test: TestDatabase;
  const started: TestService[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    ProbeJob.reset();
    test = await testDatabase('jobs', migrations);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const service of started.splice(0)) await service.stop();
    await test.drop();
  });
  const service = async (
    jobs = [ProbeJob] as never[],
    url = test.url,
    env: Readonly<Record<string, string>> = {},
  ): Promise<TestService> => {
    const made = await newService({ url, jobs, env });
    started.push(made);
    return made;
  };
  const rows = (at: TestService) =>
    at.database.query<{ task: string; attempts: number; in_s: number; delay_s: number; locked_by: string | null }>(
      `select task_identifier as task, attempts, extract(epoch from run_at - now())::float as in_s,
         extract(epoch from run_at - updated_at)::float as delay_s, locked_by from graphile_worker.jobs`,
    );
  const hurry = (at: TestService) =>
    at.database.query(`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), now())`);
  const ask = (at: TestService, job: typeof failing, id: number) =>
    at.work.run((tx) => at.jobs.enqueue(tx, job as never, { item_id: id } as never));

  it('are tried again after growing delays, and become dead letters once', async () => {
    // The worker polls only when it is woken, so that each try is observed however slow the machine is.
    const one = await service([ProbeJob] as never[], test.url, { JOBS_POLL_MS: '3600000' });
    const hurryAndWake = async () => {
      await hurry(one);
      await ask(one, plain as never, 9);
    };
    ProbeJob.poison.add(1);
    one.start();
    const id = await ask(one, failing, 1);
    const delays: number[] = [];
    for (let attempt = 1; attempt < 3; attempt += 1) {
      await until(async () => {
        const row = (await rows(one)).find(({ task }) => task === 'failing');
        return row?.attempts === attempt && row.locked_by === null && delays.push(row.delay_s) > 0;
      });
      await expect(one.jobs.findStatus(id)).resolves.toMatchObject({ state: 'waiting', tries: attempt });
      await hurryAndWake();
    }
    expect(delays[0]).toBeGreaterThan(1.5);
    expect(delays[1]).toBeGreaterThan(delays[0]! * 1.8);
    await until(async () => (await one.jobs.findStatus(id))?.state === 'dead');
    await until(async () => (await rows(one)).length === 0);
    await expect(one.marks('failing')).resolves.toEqual(['1 1', '1 2', '1 3']);
    await expect(one.letters.listLetters({})).resolves.toMatchObject([
      { kind: 'job', effect: 'failing', state: 'open', attempts: 3, body: '{"item_id":1}' },
    ]);
    const { body } = await one.metrics.text();
    expect(body).toContain('rookery_jobs{job="failing",state="dead"} 1');
    expect(body).toContain('rookery_jobs_failed_total{job="failing"} 3');
    expect(body).toContain('rookery_jobs_dead_total{job="failing"} 1');
  });

  it('are listed, shown, replayed and discarded by the command for operators', async () => {
    const one = await service();
    const output: string[] = [];
    const run = async (...words: string[]) => {
      const spies = [process.stdout, process.stderr].map((stream) =>
        jest.spyOn(stream, 'write').mockImplementation((text) => output.push(String(text)) > 0),
      );
      output.length = 0;
      const context = { application: () => Promise.resolve({ get: one.get }) } as unknown as BootContext;
      const code = await deadLetterCommands['dead-letters']!.run(words, context);
      for (const spy of spies) spy.mockRestore();
      return { code, text: output.join('') };
    };
    const die = async (id: number) => {
      ProbeJob.poison.add(id);
      const asked = await ask(one, failing, id);
      await until(async () => {
        await hurry(one);
        return (await one.jobs.findStatus(asked))?.state === 'dead';
      });
      return asked;
    };
    one.start();
    const [first, second] = [await die(1), await die(2)];
    const [letter, other] = (await one.letters.listLetters({})).map((row) => String(row.id));
    const listed = await run('list', '--effect', 'failing');
    expect(listed.text).toMatch(/^\d+\tjob\topen\tfailing\tfailing\t3 tries\t.*item 1 is poison\n/);
    expect((await run('show', letter!)).text).toContain('"item_id": 1');
    expect((await run('discard', other!, '--reason', 'a test')).code).toBe(0);
    await expect(one.jobs.findStatus(second)).resolves.toMatchObject({ state: 'dead' });
    ProbeJob.poison.clear();
    expect((await run('replay', letter!, '--by', 'root')).code).toBe(0);
    await until(async () => (await one.jobs.findStatus(first))?.state === 'done');
    await expect(one.letters.findLetter(Number(letter))).resolves.toMatchObject({
      state: 'replayed',
      settled_by: 'root',
    });
    await expect(one.marks('failing')).resolves.toHaveLength(7);
  });

  it('are superseded by a newer job with the same key', async () => {
    const one = await service();
    let open = (): void => undefined;
    ProbeJob.gate = new Promise((resolve) => (open = resolve));
    ProbeJob.poison.add(1);
    one.start();
    const first = await ask(one, stubborn as never, 1);
    await until(async () => (await one.marks('stubborn')).length === 1);
    const second = await ask(one, stubborn as never, 2);
    open();
    await until(async () => (await one.jobs.findStatus(second))?.state === 'done');
    await until(async () => (await one.jobs.findStatus(first))?.state === 'cancelled');
    await until(async () => (await rows(one)).length === 0);
    await expect(one.letters.listLetters({})).resolves.toEqual([]);
  });

  it('of cron lines are enqueued once a tick, across two workers', async () => {
    const [one, two] = [await service([EveryMinuteJob] as never[]), await service([EveryMinuteJob] as never[])];
    // Simulates that both workers were away for some minutes: the missed ticks are due now.
    await one.database.query(
      `insert into graphile_worker._private_known_crontabs (identifier, known_since)
       values ('every-minute', now() - interval '3 minutes')`,
    );
    one.start();
    two.start();
    await until(async () => (await one.marks('every-minute')).length > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await until(async () => (await rows(one)).length === 0, 'the end of all jobs');
    const ticks = await one.marks('every-minute');
    expect(new Set(ticks).size).toBe(ticks.length);
    expect(ticks.every((tick) => tick.endsWith(':00.000Z'))).toBe(true);
  });

  it('finish normally when their process shuts down gracefully', async () => {
    const one = await service();
    let open = (): void => undefined;
    ProbeJob.gate = new Promise((resolve) => (open = resolve));
    one.start();
    const id = await ask(one, lasting as never, 1);
    await until(async () => (await one.jobs.findStatus(id))?.done === 50);
    const waiting = await ask(one, lasting as never, 2);
    const stopped = started.pop()!.stop(100_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    open();
    await stopped;
    const two = await service();
    await expect(two.jobs.findStatus(id)).resolves.toMatchObject({ state: 'done', tries: 1 });
    await until(async () => (await rows(two)).length <= 1);
    await expect(two.marks('lasting')).resolves.not.toContain('2 2');
    expect((await two.jobs.findStatus(waiting))?.state).not.toBe('running');
  });

  it('are given back when they outlast the shutdown, and lose no try', async () => {
    for (const heeds of [true, false]) {
      const one = await service();
      ProbeJob.heedsSignal = heeds;
      let open = (): void => undefined;
      ProbeJob.gate = new Promise((resolve) => (open = resolve));
      one.start();
      const id = await ask(one, lasting as never, 1);
      await until(async () => (await one.jobs.findStatus(id))?.done === 50);
      if (heeds) ProbeJob.onAbort = open;
      await started.pop()!.stop(heeds ? 16_000 : 400);
      const two = await service();
      const [row] = await rows(two);
      expect(row).toMatchObject({ locked_by: null, attempts: heeds ? 0 : 1 });
      expect(row!.in_s).toBeLessThanOrEqual(0);
      await expect(two.database.query('select 1 from background_workers')).resolves.toEqual([]);
      open();
      two.start();
      await until(async () => (await two.jobs.findStatus(id))?.state === 'done');
      await started.pop()!.stop();
    }
  });

  it('of a killed process go to another worker, and are dead when that was their last try', async () => {
    // Only one worker lives at a time, so no worker declares a slow one lost.
    const lost = { JOBS_LOST_AFTER_MS: '2000' };
    const one = await service([ProbeJob] as never[], test.url, lost);
    const id = await ask(one, lasting as never, 1);
    const kill = async () => {
      const child = spawn(process.execPath, ['-r', HOOK, WORKER, test.url], { stdio: 'inherit' });
      children.push(child);
      await until(async () => (await one.jobs.findStatus(id))?.done === 50, 'the job in the other process');
      child.kill('SIGKILL');
      await one.database.query(`update background_jobs set done = 0`);
    };
    await kill();
    await expect(rows(one)).resolves.toMatchObject([{ attempts: 1, locked_by: expect.any(String) as string }]);
    ProbeJob.gate = new Promise(() => undefined);
    one.start();
    await until(async () => (await one.jobs.findStatus(id))?.done === 50);
    await expect(one.marks('lasting')).resolves.toEqual(['1 1', '1 2']);
    await started.pop()!.stop(100);

    // The second try was the last, and no worker was left to record its failure.
    const two = await service([ProbeJob] as never[], test.url, lost);
    await two.database.query(`update background_jobs set done = 0`);
    await until(async () => (await rows(two))[0]?.locked_by === null);
    two.start();
    await until(async () => (await two.jobs.findStatus(id))?.state === 'dead');
    await expect(two.letters.listLetters({})).resolves.toMatchObject([
      { effect: 'lasting', attempts: 2, state: 'open' },
    ]);
  });

  it('wait until the role migrate has created their schema, which a worker never does', async () => {
    const bare = await testDatabase('jobs-bare', withoutQueue);
    try {
      const one = await service([ProbeJob] as never[], bare.url);
      one.start();
      await until(() => one.logs.some(({ err }) => JSON.stringify(err)?.includes('run the role migrate')));
      await expect(one.database.query(`select 1 from pg_namespace where nspname = 'graphile_worker'`)).resolves.toEqual(
        [],
      );
      await runMigrations(bare.url, migrations);
      const id = await ask(one, failing, 5);
      await until(async () => (await one.jobs.findStatus(id))?.state === 'done');
      await started.pop()!.stop();
    } finally {
      await bare.drop();
    }
  });

  it('are executed by a worker without the right to create tables', async () => {
    const one = await service();
    const name = `jobs_dml_${process.pid}`;
    const url = new URL(test.url);
    [url.username, url.password] = [name, 'dml'];
    await one.database.query(`create role ${name} login password 'dml'`);
    try {
      for (const schema of ['public', 'graphile_worker']) {
        await one.database.query(`grant usage on schema ${schema} to ${name}`);
        await one.database.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${name}`);
        await one.database.query(`grant execute on all functions in schema ${schema} to ${name}`);
      }
      const two = await service([ProbeJob] as never[], url.href);
      two.start();
      const id = await ask(two, failing, 5);
      await until(async () => (await two.jobs.findStatus(id))?.state === 'done');
      await started.pop()!.stop();
    } finally {
      await one.database.query(`drop owned by ${name}`);
      await one.database.query(`drop role ${name}`);
    }
  });
});
