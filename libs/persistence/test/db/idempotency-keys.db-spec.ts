import { noteDeleted } from '@rookery/contracts';
import { Invalid, Refused } from '@rookery/kernel';
import { runForWaiter, parseContextKeys } from '@rookery/platform';
import type { KeyedWrite, NewAnswer } from '@rookery/platform';
import { IdempotencyKeys } from '../../src/work/idempotency-keys';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

const SECONDS = 1000;
const DAY = 24 * 60 * 60 * SECONDS;
const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');

let service: TestService;
let now = Date.now();
const clock = { now: () => new Date(now) };
const keysWith = (text: string): IdempotencyKeys =>
  new IdempotencyKeys(service.work, service.database, clock, parseContextKeys(text), 'collaboration');
let keys: IdempotencyKeys;

beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL_COUNT: '2' } });
  await service.database.query('create table eggs (name text primary key, size integer not null default 0)');
  keys = keysWith(`k:${keyOf(1)}`);
});
afterAll(() => service.stop());
beforeEach(() => service.database.query('truncate eggs, outbox, idempotency_keys'));

let counter = 0;
const makeWrite = (over: Partial<KeyedWrite> = {}): KeyedWrite => ({
  key: `key ${(counter += 1)}`,
  userId: 7,
  actorId: 0,
  tokenId: null,
  request: Buffer.from('lay'),
  ...over,
});
const answerOf = (body: string, hasSecret = false): NewAnswer => ({
  status: 201,
  headers: ['x', '1'],
  body,
  hasSecret,
});
const layEgg = (name: string) => service.work.run((tx) => tx.query('insert into eggs (name) values ($1)', [name]));
const listEggs = async () =>
  (await service.database.query<{ name: string }>('select name from eggs order by name')).map(({ name }) => name);
const refuseNothing = (): null => null;

function writeOnce(
  write: KeyedWrite,
  make: () => Promise<NewAnswer>,
  refused: (error: unknown) => NewAnswer | null = refuseNothing,
  by = keys,
) {
  const use = () => by.writeOnce(write, make, refused);
  return runForWaiter({ kind: 'client', deadline: Date.now() + 60_000 }, use);
}

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

describe('a kept answer', () => {
  it.each([
    ['a day', false, DAY],
    ['ten minutes, when it holds a secret', true, 600 * SECONDS],
  ])('is returned for %s', async (_, hasSecret, keptMs) => {
    const write = makeWrite();
    await writeOnce(write, async () => (await layEgg('a'), answerOf('{"a":1}', hasSecret)));
    now += keptMs - 1;
    await expect(keys.findAnswer(write)).resolves.toEqual({ status: 201, headers: ['x', '1'], body: '{"a":1}' });
    now += 1;
    if (hasSecret) await expect(keys.findAnswer(write)).rejects.toThrow('held a secret that is not kept any more');
    else await expect(keys.findAnswer(write)).resolves.toBeNull();
  });

  it('is replaced by a new one after a day', async () => {
    const write = makeWrite();
    await writeOnce(write, async () => answerOf('1'));
    now += DAY;
    await expect(writeOnce(write, async () => answerOf('2'))).resolves.toMatchObject({
      answer: { body: '2' },
      isReplay: false,
    });
    await expect(keys.findAnswer(write)).resolves.toMatchObject({ body: '2' });
  });

  it('cannot be read from a copy of the database, nor can its request be guessed by trying', async () => {
    const write = makeWrite({ request: Buffer.from('password=secret') });
    await writeOnce(write, async () => answerOf('glpat-secret', true));
    const [row] = await service.database.query<{ answer: Buffer; request: Buffer }>('select * from idempotency_keys');
    expect(JSON.stringify(row)).not.toContain('secret');
    expect(row!.answer.toString('latin1')).not.toContain('glpat');
    expect(row!.request).not.toEqual(write.request);
    const thief = keysWith(`k:${keyOf(2)}`);
    await expect(thief.findAnswer(write)).rejects.toThrow('used for another request');
  });

  it('is decrypted by a retired key; once that key is removed, the write is refused and not repeated', async () => {
    const write = makeWrite();
    await writeOnce(write, async () => answerOf('1'));
    const rotated = keysWith(`n:${keyOf(2)},k:${keyOf(1)}`);
    await expect(rotated.findAnswer(write)).resolves.toMatchObject({ body: '1' });
    const make = jest.fn(async () => answerOf('2'));
    await expect(writeOnce(write, make, refuseNothing, keysWith(`n:${keyOf(2)}`))).rejects.toThrow(
      'used for another request',
    );
    expect(make).not.toHaveBeenCalled();
  });
});

describe('a write with a key', () => {
  it('is visible to its own request, and to no other before the answer is stored', async () => {
    const write = makeWrite();
    await writeOnce(write, async () => {
      await layEgg('a');
      expect(await listEggs()).toEqual(['a']);
      expect(await runForWaiter({ kind: 'process', deadline: Infinity }, listEggs)).toEqual([]);
      return answerOf('1');
    });
    expect(await listEggs()).toEqual(['a']);
  });

  it('is rolled back without an answer, and emits no event', async () => {
    const write = makeWrite();
    const failing = writeOnce(write, async () => {
      await service.work.run(async (tx) => {
        await tx.query(`insert into eggs values ('a')`);
        tx.emit(deletion);
      });
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
    expect([await listEggs(), await service.outbox(), await keys.findAnswer(write)]).toEqual([[], [], null]);
  });

  it('emits the events of each unit of work, and runs steps after the commit only then', async () => {
    const steps: string[] = [];
    await writeOnce(makeWrite(), async () => {
      for (const name of ['a', 'b']) {
        await service.work.run(async (tx) => {
          await tx.query('insert into eggs (name) values ($1)', [name]);
          tx.emit(deletion);
          tx.afterCommit(() => steps.push(name));
        });
      }
      steps.push('answer');
      return answerOf('1');
    });
    expect(steps).toEqual(['answer', 'a', 'b']);
    expect(await service.outbox()).toHaveLength(2);
  });

  it('omits a unit of work that failed alone', async () => {
    await writeOnce(makeWrite(), async () => {
      await layEgg('a');
      await expect(layEgg('a')).rejects.toThrow('duplicate key');
      await layEgg('b');
      return answerOf('1');
    });
    expect(await listEggs()).toEqual(['a', 'b']);
  });

  it('stores a refusal with the rows written before it, and no refusal without such rows', async () => {
    const refusal = (): NewAnswer => ({ status: 400, headers: [], body: 'no', hasSecret: false });
    const [write, bare] = [makeWrite(), makeWrite()];
    const refused = writeOnce(write, async () => (await layEgg('a'), Promise.reject(new Refused('no'))), refusal);
    await expect(refused).resolves.toMatchObject({ answer: { status: 400, body: 'no' } });
    expect([await listEggs(), (await keys.findAnswer(write))?.status]).toEqual([['a'], 400]);
    await expect(writeOnce(bare, () => Promise.reject(new Invalid({})), refusal)).rejects.toThrow(Invalid);
    await expect(keys.findAnswer(bare)).resolves.toBeNull();
  });

  it('keeps rows of an independent transaction although the request fails', async () => {
    const failing = writeOnce(makeWrite(), async () => {
      await service.work.runIndependent((tx) => tx.query(`insert into eggs values ('a')`));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await listEggs()).toEqual(['a']);
  });

  it('is retried after a deadlock, and done once', async () => {
    await service.database.query(`insert into eggs values ('a'), ('b')`);
    let arrived = 0;
    let bothHere: () => void = () => undefined;
    const meet = new Promise<void>((resolve) => (bothHere = resolve));
    const grow = (first: string, second: string) => () =>
      service.work
        .run(async (tx) => {
          await tx.query('update eggs set size = size + 1 where name = $1', [first]);
          if (++arrived === 2) bothHere();
          await meet;
          await tx.query('update eggs set size = size + 1 where name = $1', [second]);
        })
        .then(() => answerOf('1'));
    await Promise.all([writeOnce(makeWrite(), grow('a', 'b')), writeOnce(makeWrite(), grow('b', 'a'))]);
    expect(await service.database.query('select size from eggs')).toEqual([{ size: 2 }, { size: 2 }]);
  });
});
