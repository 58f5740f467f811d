import { areUserXids } from './user-xids';

test.each([
  ['', true],
  ['user1', true],
  ['user1,user2', true],
  ['a b,c', true],
  ['x'.repeat(256), true],
  ['😀'.repeat(256), true],
  ['x'.repeat(257), false],
  [' ', false],
  [',', false],
  ['a,', false],
  [',a', false],
  ['a,,b', false],
  ['a, b', false],
  ['a ,b', false],
  ['a,a', false],
  ['a\nb', false],
  ['a\rb', false],
  ['a\tb', false],
])('%j: %j', (text, expected) => {
  expect(areUserXids(text)).toBe(expected);
});

test('checks a megabyte of ids quickly', () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `user-${index}`).join(',');
  const started = process.cpuUsage();
  expect(areUserXids(text)).toBe(true);
  // Units: microseconds. A quadratic comparison would take minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});
