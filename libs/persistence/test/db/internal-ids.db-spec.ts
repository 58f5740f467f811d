import { Inbox, instantSql, nextInternalId } from '../../src';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

describe('numbers and inbox', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.stop());

  it('gives 50 parallel callers the numbers 1 to 50', async () => {
    const numbers = await Promise.all(
      Array.from({ length: 50 }, () => service.work.run((tx) => nextInternalId(tx, 'issues', 1))),
    );
    expect(numbers.sort((left, right) => left - right)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  it('reuses a number after a rollback, and counts each scope separately', async () => {
    const lost = service.work.run(async (tx) => {
      await nextInternalId(tx, 'merge_requests', 5);
      throw new Error('no');
    });
    await expect(lost).rejects.toThrow('no');
    await expect(service.work.run((tx) => nextInternalId(tx, 'merge_requests', 5))).resolves.toBe(1);
    await expect(service.work.run((tx) => nextInternalId(tx, 'merge_requests', 6))).resolves.toBe(1);
    await expect(service.work.run((tx) => nextInternalId(tx, 'merge_requests', 5))).resolves.toBe(2);
  });

  it('gives an event to exactly one of many parallel calls, separately for each effect', async () => {
    const inbox = service.module.get(Inbox);
    const ids = ['0197a5c0-0000-7000-8000-000000000001', '0197a5c0-0000-7000-8000-000000000002'];
    const take = (effect: string, order: readonly string[]) =>
      service.work.run(async (tx) => (await inbox.claimNew(tx, effect, order)).size);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => take('raise-todos', index % 2 ? ids : [...ids].reverse())),
    );
    expect(taken.reduce((sum, size) => sum + size, 0)).toBe(2);
    await expect(take('record-activity', ids)).resolves.toBe(2);
    const rolledBack = service.work.run(async (tx) => {
      await inbox.claimNew(tx, 'send-mail', ids);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await expect(take('send-mail', ids)).resolves.toBe(2);
  });

  it('writes instants as the API shows them', async () => {
    const rows = await service.database.query(
      `select ${instantSql(`timestamptz '2026-11-21 10:30:00.12+02'`)} as at, ${instantSql('null::timestamptz')} as none`,
    );
    expect(rows).toEqual([{ at: '2026-11-21T08:30:00.120Z', none: null }]);
  });
});
