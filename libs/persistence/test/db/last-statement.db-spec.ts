import { noteDeleted } from '@rookery/contracts';
import { CommitInDoubt, Unauthorized } from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { untilBlocked } from '@rookery/testing';
import { Client } from 'pg';
import { requireRowsInTimeSql } from '../../src';
import type { LastStatement, Tx } from '../../src';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startService({});
  await service.database.query('create table nests (id integer primary key, eggs integer not null check (eggs < 9))');
  await service.database.query('create table laid (id integer primary key)');
});
beforeEach(async () => {
  await service.database.query('truncate nests, laid, outbox');
  await service.database.query('insert into nests values (1, 0)');
});
afterAll(() => service.stop());

const deletion = noteDeleted.of({
  aggregateId: 1,
  actorId: 7,
  data: {
    note_id: 1,
    noteable_type: 'Issue',
    noteable_id: 1,
    noteable_iid: 1,
    project_id: 1,
    group_id: null,
    author_id: 7,
    internal: false,
  },
});

/** Adds an egg to a nest that has room for it. */
const countingStatement = (nest = 1, most = 9) => ({
  text: `with counted as (update nests set eggs = eggs + 1 where id = $1 and eggs < $2 returning eggs)
    select (select eggs from counted) as eggs, ${requireRowsInTimeSql('counted', '$3')} as is_as_hoped`,
  values: [nest, most],
});
const lastStatementOf = (o: { nest?: number; most?: number; done?: LastStatement['done'] } = {}): LastStatement => {
  const { text, values } = countingStatement(o.nest, o.most);
  return {
    statement: (patienceMs) => ({ text, values: [...values, patienceMs] }),
    ...(o.done ? { done: o.done } : {}),
  };
};

/** Inserts an egg and emits an event; `again` runs where the count cannot be the last statement. */
const layEgg = (by: LastStatement, again: (tx: Tx) => Promise<unknown> = () => Promise.resolve()) =>
  service.work.run(async (tx) => {
    await tx.query('insert into laid select count(*) + 1 from laid');
    tx.emit(deletion);
    if (tx.sendWithCommit) tx.sendWithCommit(by);
    else await again(tx);
    return tx.sendWithCommit === null ? 'again' : 'at once';
  });
const readState = async () => {
  const [row] = await service.database.query(`select (select eggs from nests where id = 1) as eggs,
    (select count(*) from laid) as laid, (select count(*) from outbox) as events`);
  return row;
};

class FakeRights implements Rights {
  hasCommitted = false;

  constructor(
    private readonly ms: number,
    private readonly says: () => Promise<void> | null = () => null,
  ) {}

  recheckBeforeRead(): null {
    return null;
  }

  recheckBeforeWrite(): Promise<void> | null {
    return this.says();
  }

  validForMs(): number {
    return this.ms;
  }

  recordCommit(): void {
    this.hasCommitted = true;
  }
}
function request<T>(rights: Rights, use: () => Promise<T>): Promise<T> {
  return runForWaiter({ kind: 'client', deadline: Date.now() + 40_000, rights }, use);
}

/** Runs `use` while another transaction holds a lock on the nest. */
async function whileLocked(
  use: (holder: Client) => Promise<void>,
  lock = 'select 1 from nests where id = 1 for update',
): Promise<void> {
  const holder = new Client({ connectionString: service.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(lock);
    await use(holder);
  } finally {
    await holder.end();
  }
}

it('the last statement is committed with the rows and the events, and `done` gets its rows', async () => {
  const answers: unknown[] = [];
  await expect(layEgg(lastStatementOf({ done: (rows) => answers.push(...rows) }))).resolves.toBe('at once');
  expect(answers).toEqual([{ eggs: 1, is_as_hoped: 1 }]);
  expect(await readState()).toEqual({ eggs: 1, laid: 1, events: 1 });
});

it('concurrent last statements are all applied', async () => {
  const lays = Array.from({ length: 8 }, (_, n) =>
    service.work.run(async (tx) => {
      await tx.query('insert into laid values ($1)', [n]);
      tx.sendWithCommit!(lastStatementOf());
    }),
  );
  await Promise.all(lays);
  expect(await readState()).toEqual({ eggs: 8, laid: 8, events: 0 });
});

it('if its condition fails, nothing is committed and the unit is retried without it', async () => {
  const answers: unknown[] = [];
  const again = (tx: Tx) => tx.query('update nests set eggs = 5 where id = 1');
  await expect(layEgg(lastStatementOf({ nest: 2, done: (rows) => answers.push(rows) }), again)).resolves.toBe('again');
  expect(answers).toEqual([]);
  expect(await readState()).toEqual({ eggs: 5, laid: 1, events: 1 });
});

it('the caller gets the error of the retry', async () => {
  await expect(layEgg(lastStatementOf({ most: 0 }), () => Promise.reject(new Unauthorized()))).rejects.toBeInstanceOf(
    Unauthorized,
  );
  expect(await readState()).toEqual({ eggs: 0, laid: 0, events: 0 });
});

it('any other failure of the last statement fails the unit', async () => {
  await service.database.query('update nests set eggs = 8');
  await expect(layEgg(lastStatementOf())).rejects.toThrow('violates check constraint');
  expect(await readState()).toEqual({ eggs: 8, laid: 0, events: 0 });
  // The connection is usable again.
  await service.database.query('update nests set eggs = 0');
  await expect(layEgg(lastStatementOf())).resolves.toBe('at once');
});

it.each([
  ['the last statement', undefined],
  ['the events before it', 'lock table outbox in share mode'],
])('nothing is committed if the permissions expired while %s waited', async (_, lock) => {
  await whileLocked(async (holder) => {
    let isOld = false;
    const rights = new FakeRights(50, () => (isOld ? Promise.reject(new Unauthorized()) : null));
    const late = request(rights, () => layEgg(lastStatementOf()));
    await untilBlocked((sql) => service.database.query(sql));
    isOld = true;
    await new Promise((resolve) => setTimeout(resolve, 60));
    await holder.query('rollback');
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
    expect(await readState()).toEqual({ eggs: 0, laid: 0, events: 0 });
  }, lock);
});

it('valid permissions after a wait let the retry commit', async () => {
  const rights = new FakeRights(0);
  const again = (tx: Tx) => tx.query('update nests set eggs = eggs + 1 where id = 1');
  await expect(request(rights, () => layEgg(lastStatementOf(), again))).resolves.toBe('again');
  expect(rights.hasCommitted).toBe(true);
  expect(await readState()).toEqual({ eggs: 1, laid: 1, events: 1 });
});

it('a connection that is lost during the wait leaves the commit in doubt', async () => {
  await whileLocked(async (holder) => {
    const late = layEgg(lastStatementOf()).catch((error: unknown) => error);
    await untilBlocked((sql) => service.database.query(sql));
    await holder.query(`select pg_terminate_backend(pid, 50000) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    expect(await late).toBeInstanceOf(CommitInDoubt);
  });
  expect(await readState()).toEqual({ eggs: 0, laid: 0, events: 0 });
});

it('a unit inside an outer transaction makes the change at once, since the commit comes later', async () => {
  const again = (tx: Tx) => tx.query('update nests set eggs = eggs + 1 where id = 1');
  const answer = request(new FakeRights(1000), () =>
    service.work.runInOneTransaction(() => layEgg(lastStatementOf(), again)),
  );
  await expect(answer).resolves.toBe('again');
  expect(await readState()).toEqual({ eggs: 1, laid: 1, events: 1 });
});

describe('a last step that can be sent with the commit', () => {
  const follow = () => ({ text: 'insert into laid select 100 + eggs from nests where id = 1', values: [] });
  const inItsCourse = async (tx: Tx) => void (await tx.query('update nests set eggs = 7 where id = 1'));
  const lastly = (alone: LastStatement, use: (tx: Tx) => unknown = () => undefined) =>
    service.work.run(async (tx) => {
      tx.beforeCommitLast(inItsCourse, alone);
      tx.emit(deletion);
      await use(tx);
    });
  const laid = async () => (await service.database.query<{ id: number }>('select id from laid')).map(({ id }) => id);

  it('is sent with events and its following statement', async () => {
    const answers: unknown[] = [];
    await lastly({ ...lastStatementOf({ done: (rows) => answers.push(...rows) }), follow });
    expect(answers).toEqual([{ eggs: 1, is_as_hoped: 1 }]);
    expect(await readState()).toEqual({ eggs: 1, laid: 1, events: 1 });
    expect(await laid()).toEqual([101]);
  });

  it('is followed by a statement that sees everything committed before its lock', async () => {
    await whileLocked(async (holder) => {
      await holder.query('update nests set eggs = 4 where id = 1');
      const late = lastly({ ...lastStatementOf(), follow });
      await untilBlocked((sql) => service.database.query(sql));
      await holder.query('commit');
      await late;
    });
    expect(await laid()).toEqual([105]);
  });

  it.each<[string, LastStatement, (tx: Tx) => unknown]>([
    ['another last step', lastStatementOf(), (tx) => tx.beforeCommitLast(() => Promise.resolve())],
    [
      'a last statement of the unit',
      { ...lastStatementOf(), follow },
      (tx) => tx.sendWithCommit?.({ ...lastStatementOf({ nest: 2 }) }),
    ],
    ['a failed condition', lastStatementOf({ nest: 2 }), () => undefined],
  ])('runs before the commit in case of %s', async (_, alone, use) => {
    await lastly(alone, use);
    expect(await readState()).toEqual({ eggs: 7, laid: 0, events: 1 });
  });

  it('commits nothing when its following statement fails', async () => {
    const wrong = () => ({ text: 'update nests set eggs = 99', values: [] });
    await expect(lastly({ ...lastStatementOf(), follow: wrong })).rejects.toThrow('violates check constraint');
    expect(await readState()).toEqual({ eggs: 0, laid: 0, events: 0 });
  });
});
