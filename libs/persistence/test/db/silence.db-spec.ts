import { InDoubt, Unavailable } from '@rookery/kernel';
import { awaitedBy, awaitedByMany, Readiness } from '@rookery/platform';
import { FaultProxy, until } from '@rookery/testing';
import type { Client } from 'pg';
import { hedged } from '../../src';
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
  return awaitedBy({ kind: 'client', deadline: Date.now() + 60_000 }, use);
}

describe('a database behind a network that goes wrong', () => {
  let service: TestService;
  let proxy: FaultProxy;

  beforeAll(async () => {
    service = await startService({
      migrations: [CreateMarks1790000000000 as unknown as MigrationClass],
      // As the product has them, but for the time of a statement, beyond which a connection counts as dead.
      settings: { DATABASE_STATEMENT_TIMEOUT_MS: '200' },
      reachedBy: async (url) => (proxy = await FaultProxy.before(url)).url,
    });
  });
  afterAll(async () => {
    await service.stop();
    await proxy.close();
  });

  const one = () => service.database.query<{ one: number }>('select 1 as one');
  const marks = async () => (await service.database.query<{ id: number }>('select id from marks')).map(({ id }) => id);
  const write = (id: number) => asClient(() => service.work.run((tx) => tx.query(`insert into marks values (${id})`)));

  const lanes = [asClient, awaitedByMany, <T>(use: () => Promise<T>) => use()] as const;
  const works = () =>
    Promise.all(lanes.map((lane) => lane(one))).then(
      () => true,
      () => false,
    );
  // Of the connections that a test made silent nothing is left to the next one.
  beforeEach(async () => {
    proxy.cut();
    await until(works);
  });

  it('throws a silent connection away, with what waits for it, and goes on by another', async () => {
    await asClient(one);
    proxy.swallow();
    await expect(asClient(one)).rejects.toMatchObject({ reason: 'database away' });
    await expect(asClient(one)).resolves.toEqual([{ one: 1 }]);
  });

  it('does so inside a transaction, of which nothing remains', async () => {
    const silent = asClient(() =>
      service.work.run(async (tx) => {
        await tx.query('insert into marks values (1)');
        proxy.swallow();
        await tx.query('insert into marks values (2)');
      }),
    );
    await expect(silent).rejects.toBeInstanceOf(Unavailable);
    await expect(silent).rejects.not.toBeInstanceOf(InDoubt);
    proxy.cut();
    await until(works);
    await expect(asClient(marks)).resolves.toEqual([]);
  });

  it('keeps a connection that is silent because nobody asks it', async () => {
    const client = (await service.database.pool.connect()) as unknown as Client;
    const { stream } = (client as unknown as { connection: { stream: NodeJS.EventEmitter } }).connection;
    stream.emit('timeout');
    await expect(client.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    (client as unknown as { release(): void }).release();
  });

  it('gives a transaction that says so all the time it takes, and the next one no more than usual', async () => {
    let pid = 0;
    await service.work.run(async (tx) => {
      await tx.takeTime();
      [{ pid }] = (await tx.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(2.5)')) as [
        { pid: number },
      ];
    });
    expect(pid).toBeGreaterThan(0);
    proxy.swallow();
    await expect(service.work.run((tx) => tx.query('select 1'))).rejects.toMatchObject({ reason: 'database away' });
  });

  it('shares no look that waits for a silent connection', async () => {
    await awaitedByMany(one);
    proxy.swallow();
    let looks = 0;
    const look = () => awaitedByMany(() => hedged(() => ((looks += 1), one())));
    await expect(look()).resolves.toEqual([{ one: 1 }]);
    expect(looks).toBe(2);
    await expect(hedged(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('is not ready while any lane hears nothing, and is once the dead connections are gone', async () => {
    const readiness = service.module.get(Readiness);
    const reasons = async () => (await readiness.report()).reasons['database'];
    expect(await reasons()).toBeUndefined();
    proxy.swallow();
    expect(await reasons()).toMatch(/no answer within|Connection terminated/);
    await until(async () => (await reasons()) === undefined);
  });

  it('says that a commit whose answer was lost is in doubt, though it happened', async () => {
    proxy.loseAnswersTo('COMMIT');
    await expect(write(10)).rejects.toBeInstanceOf(InDoubt);
    await expect(asClient(marks)).resolves.toEqual([10]);
  });

  it('says so of one that fell silent, and of one that the server broke off as it ended', async () => {
    await asClient(one);
    const silent = asClient(() =>
      service.work.run(async (tx) => {
        await tx.query('insert into marks values (11)');
        tx.beforeCommit(() => Promise.resolve(proxy.swallow()));
      }),
    );
    await expect(silent).rejects.toBeInstanceOf(InDoubt);
  });

  it('ends although an idle connection is out of reach', async () => {
    const client = await service.database.alone('alone', 1000);
    proxy.swallow();
    await expect(client.end()).resolves.toBeUndefined();
  });

  it('says what the server refused at the commit, which is surely rolled back', async () => {
    const refused = asClient(() => service.work.run((tx) => tx.query('insert into marks values (12, 99)')));
    await expect(refused).rejects.toThrow('violates foreign key constraint');
    await expect(refused).rejects.not.toBeInstanceOf(InDoubt);
  });

  it('says that the database is away when the connection was lost before the commit was sent', async () => {
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
