import { CHECK_COUNT, DueMailChecker } from './due-mail-checker';
import type { DueRecipient } from './due-mail-checker';

const batch: DueRecipient[] = Array.from({ length: 100 }, (_, index) => ({
  id: index + 1,
  address: `p${index + 1}@example.com`,
}));
const longAgo = -1_000_000;
let asked: (readonly number[])[];
let due: readonly DueRecipient[];
let check: DueMailChecker;

beforeEach(() => {
  asked = [];
  due = batch;
  check = new DueMailChecker(batch, longAgo, (ids) => {
    asked.push(ids);
    return Promise.resolve(due.filter(({ id }) => ids.includes(id)));
  });
});

test('an e-mail is checked together with the next ones, not with the whole batch', async () => {
  for (const mail of batch) expect(await check.isDue(mail)).toBe(true);
  expect(Math.max(...asked.map((ids) => ids.length))).toBe(CHECK_COUNT);
  expect(asked[0]).toEqual(batch.slice(0, CHECK_COUNT).map(({ id }) => id));
  expect(asked.at(-1)!.every((id) => id > batch.length - CHECK_COUNT)).toBe(true);
});

test('several connections share one check', async () => {
  await Promise.all(batch.slice(0, 5).map((mail) => check.isDue(mail)));
  expect(asked).toHaveLength(1);
});

test('an e-mail without a due row is not sent, a changed address is an error, and a second question is answered', async () => {
  due = batch.map((one) => (one.id === 2 ? { ...one, address: 'new@example.com' } : one)).filter(({ id }) => id !== 1);
  expect(await check.isDue(batch[0]!)).toBe(false);
  await expect(check.isDue(batch[1]!)).rejects.toThrow('another address');
  const late = new DueMailChecker(batch, longAgo, (ids) => Promise.resolve(ids.map((id) => batch[id - 1]!)));
  expect(await late.isDue(batch[99]!)).toBe(true);
  expect(await late.isDue(batch[99]!)).toBe(true);
});
