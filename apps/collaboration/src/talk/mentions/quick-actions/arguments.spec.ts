import { parseArgument } from './arguments';

test.each<[string, string[]]>([
  ['@wren', ['wren']],
  ['@wren, @robin.b @Wren', ['Wren', 'robin.b']],
  ['me @me', ['finch']],
  ['wren', []],
  ['@', []],
  ['', []],
])('finds the usernames in %j', (text, names) => expect(parseArgument.people(text, 'finch')).toEqual(names));

test.each<[string, string[]]>([
  ['~bug', ['bug']],
  [`~bug ~"needs work",~'so so' ~bug`, ['bug', 'needs work', 'so so']],
  ['~"a~b" ~c', ['a~b', 'c']],
  ['~ ~"" ~"open', []],
  ['bug', []],
])('finds the labels in %j', (text, names) => expect(parseArgument.labels(text)).toEqual(names));

test.each<[string, string | null]>([
  ['%v1', 'v1'],
  ['%"version one"', 'version one'],
  ['version one', 'version one'],
  ['%', null],
  ['', null],
])('finds the milestone in %j', (text, title) => expect(parseArgument.milestone(text)).toBe(title));

test.each<[string, (string | number | null)[][]]>([
  ['#5', [[null, 5]]],
  [
    '#5, colony/eggs#6',
    [
      [null, 5],
      ['colony/eggs', 6],
    ],
  ],
  ['colony/sub/eggs#7', [['colony/sub/eggs', 7]]],
  ['5 # eggs#1 #x colony/eggs', []],
])('finds the references in %j', (text, found) =>
  expect(parseArgument.references(text).map(({ project, iid }) => [project, iid])).toEqual(found),
);

const TODAY = new Date('2024-01-31T22:00:00Z');
test.each([
  ['group/project', { path: 'group/project', withNotes: false }],
  [' a/b/c  --with_notes ', { path: 'a/b/c', withNotes: true }],
  ['', { path: null, withNotes: false }],
  ['--with_notes', { path: null, withNotes: true }],
  ['project', null],
  ['a/b c/d', null],
  ['a/b c/d --with_notes', null],
  ['a//b', null],
  ['a/b#7', null],
  [`a/${'b'.repeat(256)}`, null],
])('finds the destination in %j', (text, found) => expect(parseArgument.destination(text)).toEqual(found));

test.each<[string, string | null]>([
  ['2026-02-28', '2026-02-28'],
  ['2026-02-29', null],
  ['2026-13-01', null],
  ['Today', '2024-01-31'],
  ['tomorrow', '2024-02-01'],
  ['in 2 days', '2024-02-02'],
  ['in a week', '2024-02-07'],
  ['in 1 month', '2024-02-29'],
  ['in 1 year', '2025-01-31'],
  ['in 9999 years', null],
  ['next moon', null],
  ['', null],
])('finds the day in %j', (text, day) => expect(parseArgument.day(text, TODAY)).toBe(day));

test.each<[string, number | null, string | null]>([
  ['3', 3, '3'],
  ['-3', null, '-3'],
  [':+1:', null, '+1'],
  ['a b', null, null],
])('finds the integer and the emoji in %j', (text, integer, emoji) => {
  expect(parseArgument.integer(text)).toBe(integer);
  expect(parseArgument.emoji(text)).toBe(emoji);
});

test.each([
  '~'.repeat(5000),
  '~"'.repeat(2500),
  '~a'.repeat(2500),
  '@a '.repeat(1600),
  `${'a/'.repeat(2500)}#`,
  '#1,'.repeat(1600),
])('parses a hostile argument within the CPU limit (%#)', (text) => {
  const started = process.cpuUsage();
  for (const read of [parseArgument.labels, parseArgument.references, parseArgument.milestone]) read(text);
  parseArgument.people(text, 'x');
  // Units: microseconds of CPU.
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});
