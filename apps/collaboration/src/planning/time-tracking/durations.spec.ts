import { parseDuration, formatDuration, LONGEST_DURATION } from './durations';

const HOUR = 3600;

test.each<[string, number | null]>([
  ['3h', 3 * HOUR],
  ['3', 3 * HOUR],
  ['1.5', 1.5 * HOUR],
  ['1.5 hours', 1.5 * HOUR],
  [' 3H 30M ', 3.5 * HOUR],
  ['3h30m', 3.5 * HOUR],
  ['1h, 2m, 3s', HOUR + 123],
  ['1mo', 160 * HOUR],
  ['1mo 1w 1d 1h 1m 1s', (160 + 40 + 8 + 1) * HOUR + 61],
  ['2 weeks 1 day', 88 * HOUR],
  ['1h 1h', 2 * HOUR],
  ['0', 0],
  ['0h', 0],
  ['0.1s', 0],
  ['-45m', -2700],
  ['- 1d 1h', -9 * HOUR],
  ['-0', 0],
  ['+1h', HOUR],
  ['', null],
  ['-', null],
  ['later', null],
  ['1 fortnight', null],
  ['1h 30', null],
  ['1h -30m', null],
  ['h1', null],
  ['1..5h', null],
  ['1e3h', null],
  ['1:30', null],
  ['٣h', null],
  ['--1h', null],
  [`${LONGEST_DURATION}s`, LONGEST_DURATION],
  [`${LONGEST_DURATION + 1}s`, null],
  [`${'9'.repeat(99)}h`, null],
  [`1${'h'.repeat(100)}`, null],
])('parses %j', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each<[number, string | null]>([
  [0, null],
  [59, '59s'],
  [HOUR * 3.5, '3h 30m'],
  [8 * HOUR, '1d'],
  [40 * HOUR, '1w'],
  [160 * HOUR, '1mo'],
  [209 * HOUR + 61, '1mo 1w 1d 1h 1m 1s'],
  [160 * HOUR * 13, '13mo'],
])('formats %d', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
  if (text !== null) expect(parseDuration(text)).toBe(seconds);
});

test('rejects hostile texts', () => {
  for (const text of [
    '1h '.repeat(400_000),
    ' '.repeat(1_000_000),
    '9'.repeat(1_000_000),
    `${','.repeat(1_000_000)}1h`,
  ]) {
    expect(parseDuration(text)).toBeNull();
  }
});
