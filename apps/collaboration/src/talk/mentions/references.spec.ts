import { REFERENCES_PER_TEXT, findReferences } from './references';

const found = (text: string): string[] =>
  findReferences(text, ['#', '!']).map(({ path, sigil, number }) => `${path ?? ''}${sigil}${number}`);

test.each([
  ['see #7', ['#7']],
  ['#7', ['#7']],
  ['#7 and #8, #7 again.', ['#7', '#8']],
  ['(#7) "#8" #9!', ['#7', '#8', '#9']],
  ['project#7 and group/project#8', ['project#7', 'group/project#8']],
  ['a.b/c-d_e#7', ['a.b/c-d_e#7']],
  ['Group/Project#7 group/project#7', ['Group/Project#7']],
  ['!3 of group/project!4', ['!3', 'group/project!4']],
  ['#7-8 #7a #7_ #0 #07 #', []],
  ['a##7 #!7 @me#7', []],
  ['&3 and $4', []],
  ['/project#7 group/#7 .x#7 x.#7', []],
  ['`#7` and\n\n    #8\n\n```\n#9\n```', []],
  ['\\#7', []],
  ['> #7 was quoted', ['#7']],
  ['- [ ] #7', ['#7']],
  ['http://host/a/b#7', []],
  ['#1234567890123456', []],
  ['issue#7', ['issue#7']],
])('finds the references in %j', (text, references) => {
  expect(found(text)).toEqual(references);
});

test('finds at most the maximum number of references', () => {
  const text = Array.from({ length: 200 }, (_, index) => `#${index + 1}`).join(' ');
  expect(found(text)).toHaveLength(REFERENCES_PER_TEXT);
});

test.each([
  ['numbers', '#1 '.repeat(330_000)],
  ['signs', '#'.repeat(1_000_000)],
  ['one endless path', `${'a/'.repeat(500_000)}#7`],
  ['paths', `${`${'a/'.repeat(100)}a#7 `.repeat(5000)}`],
  ['dots', `${'a.'.repeat(500_000)}#7`],
  ['glued', 'a#1'.repeat(330_000)],
])('parses a million characters of %s within the CPU limit', (_, text) => {
  const started = process.cpuUsage();
  found(text);
  // Units: microseconds of CPU. Generous, because the machine is shared: a quadratic parser takes minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});
