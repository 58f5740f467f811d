import { randomUUID } from 'node:crypto';
import type { Database } from '@rookery/persistence';
import type { Agent, Response } from 'supertest';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import { untilBlocked } from '../database';

export interface NamedWrite {
  readonly method: Method;
  readonly path: string;
  readonly body?: Params;
}

const AT_ONCE = 20;
const IN_USE = { message: 'A request with this Idempotency-Key is still running' };
const OF_ANOTHER = { message: 'Idempotency-Key was used for another request' };

/**
 * A write with an idempotency key is executed once, however often it is sent, and its first answer is repeated. `write`
 * returns another valid write of one kind at each call; `count` returns the number of executed writes, whose rows are
 * in `table`; `stranger` may do the same as `caller`; `refused` is a body that the handler refuses, absent where there
 * is none. Source: docs/reference/reliability.md 5.
 */
export function registerIdempotentWriteTests(
  name: string,
  o: {
    readonly caller: () => Agent;
    readonly stranger: () => Agent;
    readonly database: () => Database;
    readonly table: string;
    readonly write: () => NamedWrite | Promise<NamedWrite>;
    readonly count: () => Promise<number>;
    readonly refused?: Params;
  },
): void {
  const send = (by: Agent, { method, path, body }: NamedWrite, key: string) =>
    requestOf(by, method, path).set('Idempotency-Key', key).send(body);
  const contentOf = ({ status, text, headers }: Response) => ({
    status,
    text,
    type: headers['content-type'],
    location: headers['location'],
    ignored: headers['x-rookery-ignored'],
  });
  const isReplay = ({ headers }: Response): boolean => headers['idempotency-replayed'] === 'true';
  const done = async (use: () => Promise<unknown>): Promise<number> => {
    const before = await o.count();
    await use();
    return (await o.count()) - before;
  };

  describe(`${name}, with an idempotency key`, () => {
    it('is executed once, and the second answer equals the first', async () => {
      const [write, key] = [await o.write(), randomUUID()];
      expect(
        await done(async () => {
          const first = await send(o.caller(), write, key);
          expect({ status: first.status, isReplay: isReplay(first) }).toEqual({ status: 201, isReplay: false });
          const second = await send(o.caller(), write, key);
          expect(contentOf(second)).toEqual(contentOf(first));
          expect(isReplay(second)).toBe(true);
        }),
      ).toBe(1);
    });

    it(`is executed once when ${AT_ONCE} requests arrive at once`, async () => {
      const [write, key] = [await o.write(), randomUUID()];
      expect(
        await done(async () => {
          const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(o.caller(), write, key)));
          const last = await send(o.caller(), write, key);
          const made = answers.filter(({ status }) => status === 201);
          expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1);
          for (const answer of made) expect(contentOf(answer)).toEqual(contentOf(last));
          for (const answer of answers.filter(({ status }) => status !== 201)) {
            expect([answer.status, answer.body, answer.headers['retry-after']]).toEqual([409, IN_USE, '1']);
          }
        }),
      ).toBe(1);
    });

    it('is refused while it runs', async () => {
      const [write, key] = [await o.write(), randomUUID()];
      const holder = await o.database().openConnection('holder', 60_000);
      await holder.query('begin');
      await holder.query(`lock table ${o.table} in exclusive mode`);
      const first = send(o.caller(), write, key).then((answer) => answer);
      await untilBlocked((sql) => o.database().query(sql));
      const second = await send(o.caller(), write, key);
      await holder.query('rollback');
      await holder.end();
      expect([second.status, second.body, second.headers['retry-after']]).toEqual([409, IN_USE, '1']);
      expect((await first).status).toBe(201);
      expect(contentOf(await send(o.caller(), write, key))).toEqual(contentOf(await first));
    });

    it('refuses another body, path or query with the same key', async () => {
      const [write, key] = [await o.write(), randomUUID()];
      await send(o.caller(), write, key).expect(201);
      const { path, body } = await o.write();
      const others = [
        { ...write, path, body: { ...body, idle: 'other' } },
        { ...write, path: `${write.path}?idle=1` },
      ];
      const executed = await done(async () => {
        for (const other of others) {
          const answer = await send(o.caller(), other, key);
          expect([answer.status, answer.body]).toEqual([422, OF_ANOTHER]);
        }
      });
      expect(executed).toBe(0);
    });

    it('is executed again for another caller with the same key', async () => {
      const [write, other, key] = [await o.write(), await o.write(), randomUUID()];
      const first = await send(o.caller(), write, key).expect(201);
      const executed = await done(async () => {
        const answer = await send(o.stranger(), other, key);
        expect([answer.status, isReplay(answer)]).toEqual([201, false]);
        expect(answer.text).not.toBe(first.text);
      });
      expect(executed).toBe(1);
    });

    it('names parameters without effect in the second answer too', async () => {
      const { body, ...write } = await o.write();
      const idle = { ...write, body: { ...body, idle: 1 } };
      const key = randomUUID();
      const first = await send(o.caller(), idle, key).expect(201);
      const second = await send(o.caller(), idle, key);
      expect([contentOf(first).ignored, contentOf(second)]).toEqual(['idle', contentOf(first)]);
    });

    it.each([
      ['an empty one', ''],
      ['one of 256 characters', 'k'.repeat(256)],
      ['one that cannot be printed', 'caf\u00e9'],
    ])('needs a valid key: %s is refused', async (_, key) => {
      const answer = await send(o.caller(), await o.write(), key);
      expect([answer.status, answer.body]).toEqual([400, { error: 'Idempotency-Key is invalid' }]);
    });

    if (o.refused !== undefined) {
      it('may be sent again after a refusal', async () => {
        const [write, key] = [await o.write(), randomUUID()];
        const answer = await send(o.caller(), { ...write, body: o.refused! }, key);
        expect([400, 409, 422]).toContain(answer.status);
        expect(isReplay(await send(o.caller(), { ...write, body: o.refused! }, key))).toBe(false);
        await send(o.caller(), write, key).expect(201);
      });
    }
  });
}
