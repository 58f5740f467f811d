import { READ_LIMIT } from './markdown-blocks';
import { findMentions } from './mentions';

test.each([
  ['hello @alice', ['alice'], []],
  ['@alice please look', ['alice'], ['alice']],
  ['@alice @bob, @carol: look at @dave', ['alice', 'bob', 'carol', 'dave'], ['alice', 'bob', 'carol']],
  ['first line\n@alice second line', ['alice'], ['alice']],
  ['- @alice in a list', ['alice'], ['alice']],
  ['> @alice was quoted', ['alice'], ['alice']],
  ['# @alice in a heading', ['alice'], ['alice']],
  ['mail alice@example.com now', [], []],
  ['in `@alice` code', [], []],
  ['``a ` @alice``', [], []],
  ['```\n@alice\n```\n@bob', ['bob'], ['bob']],
  ['~~~js\n@alice', [], []],
  ['    @alice in indented code', [], []],
  ['an escaped \\@alice', [], []],
  ['thanks @alice.', ['alice'], []],
  ["@alice's idea", ['alice'], []],
  ['(@alice)', ['alice'], []],
  ['@group/sub and @ALL', ['group/sub', 'ALL'], ['group/sub']],
  ['@Alice and @alice', ['Alice'], ['Alice']],
  ['@dash-ed_name.x', ['dash-ed_name.x'], ['dash-ed_name.x']],
  ['@-alice @.bob @', [], []],
  ['a@b @@c', [], []],
  ['<b>@alice</b>', ['alice'], []],
  ['\u0000@alice', ['alice'], []],
])('finds the mentions in %j', (text, all, direct) => {
  expect(findMentions(text)).toEqual({ all, direct });
});

test('reads only the beginning of a very long text', () => {
  const long = `@first\n${'word '.repeat(READ_LIMIT / 5)}\n@last`;
  expect(findMentions(long).all).toEqual(['first']);
});

test.each([
  ['names', '@a '.repeat(330_000)],
  ['at signs', '@'.repeat(1_000_000)],
  ['one endless name', `@${'a'.repeat(1_000_000)}`],
  ['one endless path', `@${'a/'.repeat(500_000)}`],
  ['dots', `@${'a.'.repeat(500_000)}`],
  ['list items', '- @a\n'.repeat(200_000)],
  ['quotes', '> @a\n'.repeat(200_000)],
  ['back-ticks', `@a ${Array.from({ length: 1400 }, (_, i) => '`'.repeat(i)).join(' ')}`],
  ['nested lists', Array.from({ length: 1400 }, (_, i) => `${' '.repeat(i)}- @a`).join('\n')],
  ['commas', '@a,'.repeat(330_000)],
  ['brackets', `@a ${'['.repeat(1_000_000)}`],
])('parses a million characters of %s within the CPU limit', (_, text) => {
  const started = process.cpuUsage();
  findMentions(text);
  // Units: microseconds of CPU. Generous, because the machine is shared: a quadratic parser takes minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});
