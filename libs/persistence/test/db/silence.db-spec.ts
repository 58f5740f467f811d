import { CommitInDoubt, Unavailable } from '@rookery/kernel';
import { runForWaiter, runWithoutDeadline, Readiness } from '@rookery/platform';
import { FaultProxy, until } from '@rookery/testing';
import type { Client } from 'pg';
import { runHedged } from '../../src';
import type { MigrationClass } from '../../src';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

class CreateMarks1790000000000 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(
      'create table marks (id int primary key, other int references marks deferrable initially deferred)',
    );
  }
}

function asClient<T>(use: () => Promise<T>): Promise<T> {
  return runForWaiter({ kind: 'client', deadline: Date.now() + 60_000 }, use);
}

describe('a database behind a faulty network', () => {
  let service: TestService;
  let proxy: FaultProxy;

  beforeAll(async () => {
    service = await startService({
      migrations: [CreateMarks1790000000000 as unknown as MigrationClass],
      // The product's defaults except the statement timeout, after which a silent connection counts as dead.
      settings: { DATABASE_STATEMENT_TIMEOUT_MS: '200' },
      urlFor: async (url) => (proxy = await FaultProxy.before(url)).url,
    });
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
  });

  const one = () => service.database.query<{ one: number }>('select 1 as one');
  const marks = async () => (await service.database.query<{ id: number }>('select id from marks')).map(({ id }) => id);
  const write = (id: number) => asClient(() => service.work.run((tx) => tx.query(`insert into marks values (${id})`)));

  const lanes = [asClient, runWithoutDeadline, <T>(use: () => Promise<T>) => use()] as const;
  const works = () =>
    Promise.all(lanes.map((lane) => lane(one))).then(
      () => true,
      () => false,
    );
  // No connection that a test made silent is left for the next test.
  beforeEach(async () => {
    proxy.cut();
    await until(works);
  });

  it('destroys a silent connection, fails its statements, and uses another', async () => {
    await asClient(one);
    proxy.swallow();
    await expect(asClient(one)).rejects.toMatchObject({ reason: 'database away' });
    await expect(asClient(one)).resolves.toEqual([{ one: 1 }]);
  });

  it('destroys it inside a transaction, which is rolled back', async () => {
    const silent = asClient(() =>
      service.work.run(async (tx) => {
        await tx.query('insert into marks values (1)');
        proxy.swallow();
        await tx.query('insert into marks values (2)');
      }),
    );
    await expect(silent).rejects.toBeInstanceOf(Unavailable);
    await expect(silent).rejects.not.toBeInstanceOf(CommitInDoubt);
    proxy.cut();
    await until(works);
    await expect(asClient(marks)).resolves.toEqual([]);
  });

  it('keeps a connection that is silent because it is idle', async () => {
    const client = (await service.database.pool.connect()) as unknown as Client;
    const { stream } = (client as unknown as { connection: { stream: NodeJS.EventEmitter } }).connection;
    stream.emit('timeout');
    await expect(client.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    (client as unknown as { release(): void }).release();
  });

  it('lifts the limit for a transaction on request, and restores it for the next', async () => {
    let pid = 0;
    await service.work.run(async (tx) => {
      await tx.allowLongStatements();
      [{ pid }] = (await tx.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(2.5)')) as [
        { pid: number },
      ];
    });
    expect(pid).toBeGreaterThan(0);
    proxy.swallow();
    await expect(service.work.run((tx) => tx.query('select 1'))).rejects.toMatchObject({ reason: 'database away' });
  });

  it('sends a shared query again while it waits for a silent connection', async () => {
    await runWithoutDeadline(one);
    proxy.swallow();
    let queries = 0;
    const query = () => runWithoutDeadline(() => runHedged(() => ((queries += 1), one())));
    await expect(query()).resolves.toEqual([{ one: 1 }]);
    expect(queries).toBe(2);
    await expect(runHedged(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('is not ready while a lane gets no answers, and is ready once the dead connections are gone', async () => {
    const readiness = service.module.get(Readiness);
    const reasons = async () => (await readiness.runChecks()).reasons['database'];
    expect(await reasons()).toBeUndefined();
    proxy.swallow();
    expect(await reasons()).toMatch(/no answer within|Connection terminated/);
    await until(async () => (await reasons()) === undefined);
  });

  it('reports a commit whose answer was lost as in doubt, though it happened', async () => {
    proxy.loseAnswersTo('COMMIT');
    await expect(write(10)).rejects.toBeInstanceOf(CommitInDoubt);
    await expect(asClient(marks)).resolves.toEqual([10]);
  });

  it('reports a commit on a connection that fell silent as in doubt', async () => {
    await asClient(one);
    const silent = asClient(() =>
      service.work.run(async (tx) => {
        await tx.query('insert into marks values (11)');
        tx.beforeCommit(() => Promise.resolve(proxy.swallow()));
      }),
    );
    await expect(silent).rejects.toBeInstanceOf(CommitInDoubt);
  });

  it('closes an unreachable idle connection', async () => {
    const client = await service.database.openConnection('alone', 1000);
    proxy.swallow();
    await expect(client.end()).resolves.toBeUndefined();
  });

  it('reports an error of the server at the commit, which is certainly rolled back', async () => {
    const refused = asClient(() => service.work.run((tx) => tx.query('insert into marks values (12, 99)')));
    await expect(refused).rejects.toThrow('violates foreign key constraint');
    await expect(refused).rejects.not.toBeInstanceOf(CommitInDoubt);
  });

  it('answers "database away" when the connection was lost before the commit was sent', async () => {
    const cut = asClient(() =>
      service.work.run(async (tx) => {
        const { connection } = (await tx.manager.queryRunner!.connect()) as unknown as {
          connection: { stream: { destroy(error: Error): void } };
        };
        await tx.query('insert into marks values (13)');
        connection.stream.destroy(new Error('Connection terminated'));
        await new Promise(setImmediate);
      }),
    );
    await expect(cut).rejects.toMatchObject({ reason: 'database away' });
  });
});
