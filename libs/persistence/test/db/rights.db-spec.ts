import { Unauthorized } from '@rookery/kernel';
import { awaitedBy } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { until, untilBlocked } from '@rookery/testing';
import { Client } from 'pg';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

/** The rights of one request: young until they are said to be old. */
class Held implements Rights {
  isOld = false;
  looks = 0;
  hasCommitted = false;

  constructor(private readonly says: () => Promise<void> = () => Promise.resolve()) {}

  look(): Promise<void> | null {
    return this.hasCommitted ? null : this.lookToWrite();
  }

  leftMs(): number {
    return this.isOld ? 0 : 1000;
  }

  lookToWrite(): Promise<void> | null {
    if (!this.isOld) return null;
    this.looks += 1;
    return this.says();
  }

  committed(): void {
    this.hasCommitted = true;
  }
}

const gone = (): Promise<void> => Promise.reject(new Unauthorized());

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL_COUNT: '1' } });
  await service.database.query('create table eggs (id integer primary key, name text not null)');
  await service.database.query(`insert into eggs values (1, 'blue')`);
});
afterAll(() => service.stop());

function request<T>(rights: Rights, use: () => Promise<T>): Promise<T> {
  return awaitedBy({ kind: 'client', deadline: Date.now() + 40_000, rights }, use);
}
const waiting = (): boolean => service.database.pool.waiting('requests') > 0;
const read = () => service.database.query('select name from eggs');
const paint = (name: string) => () =>
  service.work.run((tx) => tx.query('update eggs set name = $1 where id = 1', [name]));
const names = async () =>
  (await service.database.query<{ name: string }>('select name from eggs')).map((egg) => egg.name);

/** While the only connection of requests is held. */
async function whileOccupied(work: (letGo: () => void) => Promise<void>): Promise<void> {
  let letGo: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (letGo = resolve));
  let isHeld = false;
  const holder = request(new Held(), () => service.work.run(() => ((isHeld = true), end)));
  await until(() => isHeld);
  await work(letGo);
  letGo();
  await holder;
}

it('a young request looks at nothing', async () => {
  const rights = new Held(gone);
  await request(rights, read);
  await request(rights, paint('blue'));
  expect(rights.looks).toBe(0);
});

it.each([
  ['a read', read],
  ['a write', paint('red')],
])('%s that waited for a connection is not begun by rights that are gone', async (_, use) => {
  await whileOccupied(async (letGo) => {
    const rights = new Held(gone);
    const late = request(rights, use);
    await until(waiting);
    rights.isOld = true;
    letGo();
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
  });
  // The connection went on to the next.
  expect(await request(new Held(), read)).toEqual([{ name: 'blue' }]);
});

it('one whose rights hold is carried out by the connection that it waited for', async () => {
  await whileOccupied(async (letGo) => {
    const rights = new Held();
    const late = request(rights, read);
    await until(waiting);
    rights.isOld = true;
    letGo();
    expect(await late).toEqual([{ name: 'blue' }]);
    expect(rights.looks).toBe(1);
  });
});

it('a write that waited for a row is not committed by rights that are gone', async () => {
  const holder = new Client({ connectionString: service.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from eggs where id = 1 for update');
    const rights = new Held(gone);
    const late = request(rights, paint('red'));
    await untilBlocked((sql) => holder.query(sql));
    rights.isOld = true;
    await holder.query('rollback');
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
    expect(await names()).toEqual(['blue']);
  } finally {
    await holder.end();
  }
});

it('a second transaction is not committed by rights that are gone', async () => {
  const rights = new Held(gone);
  const late = request(rights, async () => {
    await paint('blue')();
    rights.isOld = true;
    return paint('red')();
  });
  await expect(late).rejects.toBeInstanceOf(Unauthorized);
  expect(await names()).toEqual(['blue']);
});

it('what a request reads after its commit is its answer', async () => {
  const rights = new Held(gone);
  const answer = request(rights, async () => {
    await paint('green')();
    rights.isOld = true;
    return read();
  });
  expect(await answer).toEqual([{ name: 'green' }]);
});
