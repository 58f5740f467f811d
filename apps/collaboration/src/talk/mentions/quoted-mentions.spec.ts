import { findMentions } from './mentions';
import { wrapMentionsInCode } from './quoted-mentions';

test.each([
  ['no mention', 'no mention'],
  ['@ada and @group/bob, see', '`@ada` and `@group/bob`, see'],
  ['mail a@b.example', 'mail a@b.example'],
  ['`@ada` stays, @bob does not', '`@ada` stays, `@bob` does not'],
  ['``a ` @ada`` @bob', '``a ` @ada`` `@bob`'],
  ['an open ` @ada', 'an open ` `@ada`'],
  ['```\n@ada\n```\n@bob\r\nend', '```\n@ada\n```\n`@bob`\r\nend'],
])('quotes the mentions of %j', (given, expected) => {
  const quoted = wrapMentionsInCode(given);
  expect(findMentions(quoted).all).toEqual([]);
  expect([expected, expected.replaceAll('`@', '@')]).toContainEqual(quoted);
});

test.each([
  '` @ada',
  'a `code\n@ada\nspan` b',
  '`a @ada\n`` @bob`\n@eve',
  '\\`@ada`',
  '- `x\n  @ada` @bob',
  '`@a``@b`@c',
])('leaves no mention in %j', (given) => {
  expect(findMentions(wrapMentionsInCode(given)).all).toEqual([]);
});

test('quotes a long text with many backticks in a moment', () => {
  const text = Array.from({ length: 40_000 }, (_, at) => `${'`'.repeat(at % 700)} @ada `).join('');
  const started = performance.now();
  expect(findMentions(wrapMentionsInCode(text.slice(0, 1_000_000))).all).toEqual([]);
  expect(performance.now() - started).toBeLessThan(5000);
});
