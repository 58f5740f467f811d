import { broadcastMessageCreated, noteDeleted } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { until } from '@rookery/testing';
import { Client } from 'pg';
import type { Pool } from 'pg';
import { prepareStatement } from '../../src';
import type { MigrationClass } from '../../src';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

/** Values that neither the product nor other tests use. */
const TIMEOUTS = {
  DATABASE_STATEMENT_TIMEOUT_MS: '47000',
  DATABASE_LOCK_TIMEOUT_MS: '48000',
  DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS: '49000',
};

class CreateAccounts1790000000000 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(`create table accounts (id int primary key, amount int not null,
      heir int references accounts deferrable initially deferred)`);
    await runner.query('insert into accounts (id, amount) values (1, 0), (2, 0)');
  }
}

const deletionOf = (id: number) =>
  noteDeleted.of({
    aggregateId: id,
    actorId: 7,
    data: {
      note_id: id,
      noteable_type: 'Issue',
      noteable_id: 1,
      noteable_iid: 1,
      project_id: 1,
      group_id: null,
      author_id: 7,
      internal: false,
    },
  });

describe('Work', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      migrations: [CreateAccounts1790000000000 as unknown as MigrationClass],
      settings: { DATABASE_BACKGROUND_POOL_COUNT: '8', ...TIMEOUTS },
    });
  });
  afterAll(() => service.stop());
  beforeEach(() => service.database.query('truncate outbox'));

  it('commits rows and events together, in the order in which they were emitted', async () => {
    const result = await service.work.run(async (tx) => {
      tx.emit(deletionOf(2));
      tx.emit(deletionOf(1));
      await tx.query('update accounts set amount = 5 where id = 1');
      return 'done';
    });
    expect(result).toBe('done');
    const rows = await service.outbox();
    expect(rows.map((row) => row.aggregate_id)).toEqual([2, 1]);
    expect(rows[0]).toMatchObject({ subject: 'collaboration.note.deleted.v1', payload: { note_id: 2 } });
    await expect(service.database.query('select amount from accounts where id = 1')).resolves.toEqual([{ amount: 5 }]);
  });

  it('leaves 0 outbox rows after a rollback', async () => {
    const failing = service.work.run(async (tx) => {
      tx.emit(deletionOf(1));
      tx.beforeCommit(() => Promise.reject(new Error('changed my mind')));
      await tx.query('update accounts set amount = 99 where id = 2');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await expect(service.outbox()).resolves.toEqual([]);
    await expect(service.database.query('select amount from accounts where id = 2')).resolves.toEqual([{ amount: 0 }]);
  });

  it('leaves 0 outbox rows when the commit itself is refused, after they were written', async () => {
    const failing = service.work.run(async (tx) => {
      tx.emit(deletionOf(1));
      await tx.query('update accounts set heir = 3 where id = 1');
    });
    await expect(failing).rejects.toThrow('violates foreign key constraint');
    await expect(service.outbox()).resolves.toEqual([]);
  });

  it('runs steps before and after the commit, the latter only when it happened', async () => {
    const steps: string[] = [];
    let wakeUps = 0;
    service.work.onEmitted(() => (wakeUps += 1));
    await service.work.run(async (tx) => {
      tx.afterCommit(() => steps.push('after'));
      tx.afterCommit(() => {
        throw new Error('is logged and changes nothing');
      });
      tx.beforeCommit(async (inner) => {
        inner.emit(deletionOf(3));
        steps.push('before');
      });
      steps.push('use');
    });
    await service.work.run(async (tx) => tx.afterCommit(() => steps.push('after one without events')));
    await expect(
      service.work.run(async (tx) => {
        tx.afterCommit(() => steps.push('never'));
        tx.emit(deletionOf(1));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(steps).toEqual(['use', 'before', 'after', 'after one without events']);
    expect(wakeUps).toBe(1);
    await expect(service.outbox()).resolves.toHaveLength(1);
  });

  it('runs last steps after all others and writes their events too, each once and in order', async () => {
    const steps: string[] = [];
    await service.work.run(async (tx) => {
      tx.beforeCommitLast(async (inner) => {
        steps.push('last');
        inner.emit(deletionOf(3));
      });
      tx.beforeCommit(async (inner) => {
        steps.push('before');
        inner.emit(deletionOf(2));
        inner.beforeCommitLast(async () => void steps.push('very last'));
      });
      tx.emit(deletionOf(1));
    });
    expect(steps).toEqual(['before', 'last', 'very last']);
    expect((await service.outbox()).map(({ aggregate_id: id }) => Number(id))).toEqual([1, 2, 3]);
  });

  it('leaves nothing when a last step fails', async () => {
    const failing = service.work.run(async (tx) => {
      tx.emit(deletionOf(1));
      tx.beforeCommitLast(() => Promise.reject(new Error('too late')));
      await tx.query('update accounts set amount = 99 where id = 2');
    });
    await expect(failing).rejects.toThrow('too late');
    await expect(service.outbox()).resolves.toEqual([]);
    await expect(service.database.query('select amount from accounts where id = 2')).resolves.toEqual([{ amount: 0 }]);
  });

  it('retries the whole unit after a deadlock and emits events once', async () => {
    let tries = 0;
    let arrived = 0;
    let bothHere: () => void = () => undefined;
    const meet = new Promise<void>((resolve) => (bothHere = resolve));
    const cross = (first: number, second: number) =>
      service.work.run(async (tx) => {
        tries += 1;
        tx.emit(deletionOf(first));
        await tx.query('update accounts set amount = amount + 1 where id = $1', [first]);
        if (++arrived === 2) bothHere();
        await meet;
        await tx.query('update accounts set amount = amount + 1 where id = $1', [second]);
      });
    const before = await service.database.query<{ sum: number }>('select sum(amount)::int as sum from accounts');
    const aborted = jest.spyOn(service.work, 'onAborted');
    await Promise.all([cross(1, 2), cross(2, 1)]);
    const after = await service.database.query<{ sum: number }>('select sum(amount)::int as sum from accounts');
    expect(after[0]!.sum - before[0]!.sum).toBe(4);
    expect(aborted).toHaveBeenCalledTimes(tries - 2);
    expect(aborted).toHaveBeenCalledWith('deadlock');
    // One of both is aborted; on a slow machine the retry may be aborted too.
    expect(tries).toBeGreaterThanOrEqual(3);
    await expect(service.outbox()).resolves.toHaveLength(2);
  });

  it('answers Unavailable after three retries', async () => {
    let tries = 0;
    const failing = service.work.run(async (tx) => {
      tries += 1;
      await tx.query(`do $$ begin raise exception 'again' using errcode = '40001'; end $$`);
    });
    await expect(failing).rejects.toMatchObject({ reason: 'database slow', cause: { message: 'again' } });
    expect(tries).toBe(4);
  });

  it('refuses a nested run, and allows one after another', async () => {
    const nested = service.work.run(() => service.work.run(() => Promise.resolve()));
    await expect(nested).rejects.toThrow('a unit of work runs inside another');
    await expect(service.work.run(() => Promise.resolve(1))).resolves.toBe(1);
  });

  it('refuses events of other services, payloads that violate their schema, and those over 64 KiB', async () => {
    const emit = (event: Parameters<Parameters<Parameters<typeof service.work.run>[0]>[0]['emit']>[0]) =>
      service.work.run(async (tx) => tx.emit(event));
    const foreign = broadcastMessageCreated.of({ aggregateId: 1, actorId: 1, data: { broadcast_message_id: 1 } });
    await expect(emit(foreign)).rejects.toThrow('collaboration may not publish admin.broadcast_message.created.v1');
    const event = deletionOf(1);
    await expect(emit({ ...event, data: { ...event.data, note_id: 'x' } })).rejects.toThrow('$.note_id is not an');
    await expect(emit({ ...event, data: { ...event.data, extra: 'x'.repeat(65_536) } })).rejects.toThrow('larger than');
  });

  it('uses one statement for all events: BEGIN, the use case, one insert, COMMIT', async () => {
    const statements: string[] = [];
    await service.work.run(async (tx) => {
      const client = (await tx.manager.queryRunner!.connect()) as Client;
      const original = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((statement: string | { text: string }, ...rest: unknown[]) => {
        statements.push(typeof statement === 'string' ? statement : statement.text);
        return original(statement, ...rest);
      }) as never;
      tx.emit(deletionOf(1));
      tx.emit(deletionOf(2));
      await tx.query('select 1');
      tx.afterCommit(() => (client.query = original as never));
    });
    expect(statements.map((text) => text.slice(0, 18))).toEqual(['select 1', 'insert into outbox', 'COMMIT']);
  });

  it('answers Unavailable when no connection is free in time', async () => {
    const small = await startService({
      settings: { DATABASE_BACKGROUND_POOL_COUNT: '2', DATABASE_POOL_WAIT_MS: '1000' },
    });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    try {
      let holders = 0;
      // On a slow machine, opening them may take several tries.
      const hold = (): Promise<void> =>
        small.work
          .run(() => (holders++, held))
          .catch((error: unknown) => (holders < 2 ? hold() : Promise.reject(error)));
      const all = [hold(), hold()];
      await until(() => holders === 2);
      await expect(small.work.run(() => Promise.resolve())).rejects.toBeInstanceOf(Unavailable);
      await expect(small.database.query('select 1')).rejects.toBeInstanceOf(Unavailable);
      release();
      await Promise.all(all);
    } finally {
      release();
      await small.stop();
    }
  });

  it('answers Unavailable for a statement or a lock that takes too long, and stays usable', async () => {
    const timeouts = await service.database.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in
         ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'application_name') order by name`,
    );
    expect(timeouts.map((row) => row.setting)).toEqual(['rookery-collaboration', '49000', '48000', '47000']);
    const slow = service.work.run(async (tx) => {
      await tx.query(`set local statement_timeout = '20ms'`);
      await tx.query('select pg_sleep(1)');
    });
    await expect(slow).rejects.toBeInstanceOf(Unavailable);
    await expect(service.database.query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('survives the server ending its connections, used or idle', async () => {
    // Waits for each: a terminated connection lives on for a moment.
    const end = `select pg_terminate_backend(pid, 50000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    const admin = new Client({ connectionString: service.url });
    await admin.connect();
    const cut = service.work.run(async (tx) => {
      await admin.query(end);
      await tx.query('select 1');
    });
    await expect(cut).rejects.toBeInstanceOf(Unavailable);
    await admin.query(end);
    await admin.end();
    // The pool may still hand out a connection whose end is unnoticed.
    const works = () => service.work.run((tx) => tx.query<{ two: number }>('select 2 as two')).catch(() => null);
    let rows = await works();
    await until(async () => (rows ??= await works()) !== null);
    expect(rows).toEqual([{ two: 2 }]);
  });

  it('survives the loss of a connection without error listeners', async () => {
    const { master } = service.database.dataSource.driver as unknown as { master: Pool };
    const client = await master.connect();
    expect(() => client.emit('error', new Error('lost'))).not.toThrow();
    client.release();
  });

  it('keeps prepared statements by name and reads int8, days and instants as documented', async () => {
    const statement = prepareStatement(
      'spec_values',
      `select $1::bigint as id, '2026-02-03'::date as day, array[1, null]::bigint[] as ids,
         '2026-02-03T04:05:06.789Z'::timestamptz as at, count(*) as count from accounts`,
    );
    const [row] = await service.database.prepared<Record<string, unknown>>(statement, [9_007_199_254_740_991]);
    expect(row).toEqual({
      id: 9_007_199_254_740_991,
      day: '2026-02-03',
      ids: [1, null],
      at: new Date('2026-02-03T04:05:06.789Z'),
      count: 2,
    });
    await expect(service.database.query(`select 9007199254740993::bigint`)).rejects.toThrow('does not fit a number');
    expect(() => prepareStatement('spec_values', 'select 1')).toThrow('two statements are named spec_values');
  });
});
