import { JUDGED_COUNT, Judgement } from './judgement';
import type { Due } from './judgement';

const batch: Due[] = Array.from({ length: 100 }, (_, index) => ({
  id: index + 1,
  address: `p${index + 1}@example.com`,
}));
const longAgo = -1_000_000;
let asked: (readonly number[])[];
let due: readonly Due[];
let judgement: Judgement;

beforeEach(() => {
  asked = [];
  due = batch;
  judgement = new Judgement(batch, longAgo, (ids) => {
    asked.push(ids);
    return Promise.resolve(due.filter(({ id }) => ids.includes(id)));
  });
});

test('what is about to leave is judged with those that are next, not with the whole batch', async () => {
  for (const mail of batch) expect(await judgement.isDue(mail)).toBe(true);
  expect(Math.max(...asked.map((ids) => ids.length))).toBe(JUDGED_COUNT);
  expect(asked[0]).toEqual(batch.slice(0, JUDGED_COUNT).map(({ id }) => id));
  expect(asked.at(-1)!.every((id) => id > batch.length - JUDGED_COUNT)).toBe(true);
});

test('several connections share a look', async () => {
  await Promise.all(batch.slice(0, 5).map((mail) => judgement.isDue(mail)));
  expect(asked).toHaveLength(1);
});

test('it stays, is made anew for another address, and is looked at again when it is asked for again', async () => {
  due = batch.map((one) => (one.id === 2 ? { ...one, address: 'new@example.com' } : one)).filter(({ id }) => id !== 1);
  expect(await judgement.isDue(batch[0]!)).toBe(false);
  await expect(judgement.isDue(batch[1]!)).rejects.toThrow('another address');
  const late = new Judgement(batch, longAgo, (ids) => Promise.resolve(ids.map((id) => batch[id - 1]!)));
  expect(await late.isDue(batch[99]!)).toBe(true);
  expect(await late.isDue(batch[99]!)).toBe(true);
});
