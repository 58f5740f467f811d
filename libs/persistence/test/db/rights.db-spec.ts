import { Unauthorized } from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import { until, untilBlocked } from '@rookery/testing';
import { Client } from 'pg';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

/** Permissions of one request: valid until `isOld` is set. */
class FakeRights implements Rights {
  isOld = false;
  rechecks = 0;
  hasCommitted = false;

  constructor(private readonly says: () => Promise<void> = () => Promise.resolve()) {}

  recheckBeforeRead(): Promise<void> | null {
    return this.hasCommitted ? null : this.recheckBeforeWrite();
  }

  validForMs(): number {
    return this.isOld ? 0 : 1000;
  }

  recheckBeforeWrite(): Promise<void> | null {
    if (!this.isOld) return null;
    this.rechecks += 1;
    return this.says();
  }

  recordCommit(): void {
    this.hasCommitted = true;
  }
}

const refuseCaller = (): Promise<void> => Promise.reject(new Unauthorized());

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL_COUNT: '1' } });
  await service.database.query('create table eggs (id integer primary key, name text not null)');
  await service.database.query(`insert into eggs values (1, 'blue')`);
});
afterAll(() => service.stop());

function request<T>(rights: Rights, use: () => Promise<T>): Promise<T> {
  return runForWaiter({ kind: 'client', deadline: Date.now() + 40_000, rights }, use);
}
const isRequestWaiting = (): boolean => service.database.pool.countWaiting('requests') > 0;
const readEggs = () => service.database.query('select name from eggs');
const renameEgg = (name: string) => () =>
  service.work.run((tx) => tx.query('update eggs set name = $1 where id = 1', [name]));
const listNames = async () =>
  (await service.database.query<{ name: string }>('select name from eggs')).map((egg) => egg.name);

/** Runs `work` while another request holds the only connection. */
async function whileOccupied(work: (release: () => void) => Promise<void>): Promise<void> {
  let release: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const holder = request(new FakeRights(), () => service.work.run(() => ((isHeld = true), end)));
  await until(() => isHeld);
  await work(release);
  release();
  await holder;
}

it('a young request rechecks nothing', async () => {
  const rights = new FakeRights(refuseCaller);
  await request(rights, readEggs);
  await request(rights, renameEgg('blue'));
  expect(rights.rechecks).toBe(0);
});

it.each([
  ['a read', readEggs],
  ['a write', renameEgg('red')],
])('%s that waited for a connection does not begin after its permission was removed', async (_, use) => {
  await whileOccupied(async (release) => {
    const rights = new FakeRights(refuseCaller);
    const late = request(rights, use);
    await until(isRequestWaiting);
    rights.isOld = true;
    release();
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
  });
  // The connection was given to the next caller.
  expect(await request(new FakeRights(), readEggs)).toEqual([{ name: 'blue' }]);
});

it('a request whose permission still holds uses the connection that it waited for', async () => {
  await whileOccupied(async (release) => {
    const rights = new FakeRights();
    const late = request(rights, readEggs);
    await until(isRequestWaiting);
    rights.isOld = true;
    release();
    expect(await late).toEqual([{ name: 'blue' }]);
    expect(rights.rechecks).toBe(1);
  });
});

it('a write that waited for a row is not committed after its permission was removed', async () => {
  const holder = new Client({ connectionString: service.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from eggs where id = 1 for update');
    const rights = new FakeRights(refuseCaller);
    const late = request(rights, renameEgg('red'));
    await untilBlocked((sql) => holder.query(sql));
    rights.isOld = true;
    await holder.query('rollback');
    await expect(late).rejects.toBeInstanceOf(Unauthorized);
    expect(await listNames()).toEqual(['blue']);
  } finally {
    await holder.end();
  }
});

it('a second transaction is not committed after the permission was removed', async () => {
  const rights = new FakeRights(refuseCaller);
  const late = request(rights, async () => {
    await renameEgg('blue')();
    rights.isOld = true;
    return renameEgg('red')();
  });
  await expect(late).rejects.toBeInstanceOf(Unauthorized);
  expect(await listNames()).toEqual(['blue']);
});

it('a read after the commit is not rechecked', async () => {
  const rights = new FakeRights(refuseCaller);
  const answer = request(rights, async () => {
    await renameEgg('green')();
    rights.isOld = true;
    return readEggs();
  });
  expect(await answer).toEqual([{ name: 'green' }]);
});
