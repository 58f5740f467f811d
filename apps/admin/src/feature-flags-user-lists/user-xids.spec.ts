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

test('a megabyte of ids is judged in a moment', () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `user-${index}`).join(',');
  const started = performance.now();
  expect(areUserXids(text)).toBe(true);
  expect(performance.now() - started).toBeLessThan(500);
});
