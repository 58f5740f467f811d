import { noteDeleted } from '@rookery/contracts';
import { InDoubt, Unauthorized } from '@rookery/kernel';
import { awaitedBy } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { untilBlocked } from '@rookery/testing';
import { Client } from 'pg';
import { asHopedSql } from '../../src';
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

const gone = noteDeleted.of({
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

/** Counts an egg in a nest that has room for it. */
const counted = (nest = 1, most = 9) => ({
  text: `with counted as (update nests set eggs = eggs + 1 where id = $1 and eggs < $2 returning eggs)
    select (select eggs from counted) as eggs, ${asHopedSql('counted', '$3')} as is_as_hoped`,
  values: [nest, most],
});
const last = (o: { nest?: number; most?: number; done?: LastStatement['done'] } = {}): LastStatement => {
  const { text, values } = counted(o.nest, o.most);
  return {
    statement: (patienceMs) => ({ text, values: [...values, patienceMs] }),
    ...(o.done ? { done: o.done } : {}),
  };
};

/** Lays an egg and tells of it; `again` is what is done where the count cannot be the last statement. */
const lay = (by: LastStatement, again: (tx: Tx) => Promise<unknown> = () => Promise.resolve()) =>
  service.work.run(async (tx) => {
    await tx.query('insert into laid select count(*) + 1 from laid');
    tx.emit(gone);
    if (tx.withCommit) tx.withCommit(by);
    else await again(tx);
    return tx.withCommit === null ? 'again' : 'at once';
  });
const state = async () => {
  const [row] = await service.database.query(`select (select eggs from nests where id = 1) as eggs,
    (select count(*) from laid) as laid, (select count(*) from outbox) as told`);
  return row;
};

class Held implements Rights {
  hasCommitted = false;

  constructor(
    private readonly ms: number,
    private readonly says: () => Promise<void> | null = () => null,
  ) {}

  look(): null {
    return null;
  }

  lookToWrite(): Promise<void> | null {
    return this.says();
  }

  leftMs(): number {
    return this.ms;
  }

  committed(): void {
    this.hasCommitted = true;
  }
}
function request<T>(rights: Rights, use: () => Promise<T>): Promise<T> {
  return awaitedBy({ kind: 'client', deadline: Date.now() + 40_000, rights }, use);
}

/** While somebody holds the nest. */
async function whileHeld(
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

it('the last statement is committed with the rows and the events, and its answer is heard', async () => {
  const heard: unknown[] = [];
  await expect(lay(last({ done: (rows) => heard.push(...rows) }))).resolves.toBe('at once');
  expect(heard).toEqual([{ eggs: 1, is_as_hoped: 1 }]);
  expect(await state()).toEqual({ eggs: 1, laid: 1, told: 1 });
});

it('many at once are all counted', async () => {
  const lays = Array.from({ length: 8 }, (_, n) =>
    service.work.run(async (tx) => {
      await tx.query('insert into laid values ($1)', [n]);
      tx.withCommit!(last());
    }),
  );
  await Promise.all(lays);
  expect(await state()).toEqual({ eggs: 8, laid: 8, told: 0 });
});

it('what is not as it needs it leaves nothing, and the unit is run again without it', async () => {
  const heard: unknown[] = [];
  const again = (tx: Tx) => tx.query('update nests set eggs = 5 where id = 1');
  await expect(lay(last({ nest: 2, done: (rows) => heard.push(rows) }), again)).resolves.toBe('again');
  expect(heard).toEqual([]);
  expect(await state()).toEqual({ eggs: 5, laid: 1, told: 1 });
});

it('what the unit says then is what the caller is told', async () => {
  await expect(lay(last({ most: 0 }), () => Promise.reject(new Unauthorized()))).rejects.toBeInstanceOf(Unauthorized);
  expect(await state()).toEqual({ eggs: 0, laid: 0, told: 0 });
});

it('one that fails otherwise fails the unit', async () => {
  await service.database.query('update nests set eggs = 8');
  await expect(lay(last())).rejects.toThrow('violates check constraint');
  expect(await state()).toEqual({ eggs: 8, laid: 0, told: 0 });
  // The connection is as it was.
  await service.database.query('update nests set eggs = 0');
  await expect(lay(last())).resolves.toBe('at once');
});

it.each([
  ['it', undefined],
  ['the events before it', 'lock table outbox in share mode'],
])('nothing is committed by rights that grew old while %s waited', async (_, lock) => {
  await whileHeld(async (holder) => {
    let isOld = false;
    const rights = new Held(50, () => (isOld ? Promise.reject(new Unauthorized()) : null));
    const late = request(rights, () => lay(last()));
    await untilBlocked((sql) => service.database.query(sql));
    isOld = true;
    await new Promise((resolve) => setTimeout(resolve, 60));
    await holder.query('rollback');
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
    expect(await state()).toEqual({ eggs: 0, laid: 0, told: 0 });
  }, lock);
});

it('rights that hold still commit what waited, in the second run', async () => {
  const rights = new Held(0);
  const again = (tx: Tx) => tx.query('update nests set eggs = eggs + 1 where id = 1');
  await expect(request(rights, () => lay(last(), again))).resolves.toBe('again');
  expect(rights.hasCommitted).toBe(true);
  expect(await state()).toEqual({ eggs: 1, laid: 1, told: 1 });
});

it('a connection that is lost meanwhile leaves the commit in doubt', async () => {
  await whileHeld(async (holder) => {
    const late = lay(last()).catch((error: unknown) => error);
    await untilBlocked((sql) => service.database.query(sql));
    await holder.query(`select pg_terminate_backend(pid, 50000) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    expect(await late).toBeInstanceOf(InDoubt);
  });
  expect(await state()).toEqual({ eggs: 0, laid: 0, told: 0 });
});

it('a part of a whole does it in its course, since its commit comes later', async () => {
  const again = (tx: Tx) => tx.query('update nests set eggs = eggs + 1 where id = 1');
  const whole = request(new Held(1000), () => service.work.whole(() => lay(last(), again)));
  await expect(whole).resolves.toBe('again');
  expect(await state()).toEqual({ eggs: 1, laid: 1, told: 1 });
});

describe('a last step that can leave with the commit', () => {
  const follow = () => ({ text: 'insert into laid select 100 + eggs from nests where id = 1', values: [] });
  const inItsCourse = async (tx: Tx) => void (await tx.query('update nests set eggs = 7 where id = 1'));
  const lastly = (alone: LastStatement, use: (tx: Tx) => unknown = () => undefined) =>
    service.work.run(async (tx) => {
      tx.lastly(inItsCourse, alone);
      tx.emit(gone);
      await use(tx);
    });
  const laid = async () => (await service.database.query<{ id: number }>('select id from laid')).map(({ id }) => id);

  it('does so with events and what follows it', async () => {
    const heard: unknown[] = [];
    await lastly({ ...last({ done: (rows) => heard.push(...rows) }), follow });
    expect(heard).toEqual([{ eggs: 1, is_as_hoped: 1 }]);
    expect(await state()).toEqual({ eggs: 1, laid: 1, told: 1 });
    expect(await laid()).toEqual([101]);
  });

  it('is followed by what sees all that was committed before its turn', async () => {
    await whileHeld(async (holder) => {
      await holder.query('update nests set eggs = 4 where id = 1');
      const late = lastly({ ...last(), follow });
      await untilBlocked((sql) => service.database.query(sql));
      await holder.query('commit');
      await late;
    });
    expect(await laid()).toEqual([105]);
  });

  it.each<[string, LastStatement, (tx: Tx) => unknown]>([
    ['another last step', last(), (tx) => tx.lastly(() => Promise.resolve())],
    ['a last statement of the unit', { ...last(), follow }, (tx) => tx.withCommit?.({ ...last({ nest: 2 }) })],
    ['something that is not as it needs it', last({ nest: 2 }), () => undefined],
  ])('is taken in its course beside %s', async (_, alone, use) => {
    await lastly(alone, use);
    expect(await state()).toEqual({ eggs: 7, laid: 0, told: 1 });
  });

  it('leaves nothing when what follows it fails', async () => {
    const wrong = () => ({ text: 'update nests set eggs = 99', values: [] });
    await expect(lastly({ ...last(), follow: wrong })).rejects.toThrow('violates check constraint');
    expect(await state()).toEqual({ eggs: 0, laid: 0, told: 0 });
  });
});
