import { findClosingReferences } from './closing-references';
import { REFERENCES_PER_TEXT } from './references';

const URL = 'https://rookery.example';
const found = (text: string): string[] =>
  findClosingReferences(text, URL).map(({ path, number }) => `${path ?? ''}#${number}`);

const VERBS = ['close', 'closes', 'closed', 'closing', 'fix', 'fixes', 'fixed', 'fixing']
  .concat(['resolve', 'resolves', 'resolved', 'resolving'])
  .concat(['implement', 'implements', 'implemented', 'implementing']);

test.each(VERBS)('the verb %s closes issues', (verb) => {
  const capital = `${verb[0]!.toUpperCase()}${verb.slice(1)}`;
  expect(found(`${verb} #7`)).toEqual(['#7']);
  expect(found(`${capital}: #7`)).toEqual(['#7']);
  expect(found(verb.toUpperCase() + ' #7')).toEqual([]);
});

test.each([
  ['Closes #1, #2 and #3', ['#1', '#2', '#3']],
  ['Closes #1, #2, and #3.', ['#1', '#2', '#3']],
  ['Closes #1 #2', ['#1', '#2']],
  ['Closes #1,#2', ['#1', '#2']],
  ['Closes issue #1', ['#1']],
  ['Fixes issues #1 and issue #2', ['#1', '#2']],
  ['Closes  #1', ['#1']],
  ['Closes #1 or #2', ['#1']],
  ['Closes #1. See #2', ['#1']],
  ['Closes #1, closes #2; fixes #1', ['#1', '#2']],
  ['Closes project#1 and group/project#2', ['project#1', 'group/project#2']],
  ['Closes a/b.c/d-e#1', ['a/b.c/d-e#1']],
  [`Closes ${URL}/group/project/-/issues/1 and #2`, ['group/project#1', '#2']],
  [`Closes ${URL}/group/project/issues/1, ${URL}/a/b/c/-/work_items/2`, ['group/project#1', 'a/b/c#2']],
  ['Closes https://elsewhere.example/group/project/-/issues/1', []],
  ['Awesome commit message\n\nFix #20, Fixes #21 and Closes group/other#22.', ['#20', '#21', 'group/other#22']],
  ['This commit is also related to #17 and fixes #18, #19', ['#18', '#19']],
  ['Is this the first one that (closes #1)?', ['#1']],
  ['Closes\n#1', []],
  ['Closes#1 closes: 1 closes !1 closes #0 closes #1a closes #1-2', []],
  ['encloses #1, prefix #2, un_fix #3, fixture #4', []],
  ['`closes #1`\n\n    closes #2\n\n```\ncloses #3\n```', []],
  ['> closes #1', ['#1']],
  ['Closes Group/P#1, group/p#1', ['Group/P#1']],
  ['', []],
])('finds the closing references in %j', (text, references) => {
  expect(found(text)).toEqual(references);
});

test('finds at most the maximum number of references', () => {
  const list = Array.from({ length: 200 }, (_, index) => `#${index + 1}`).join(', ');
  expect(found(`Closes ${list}`)).toHaveLength(REFERENCES_PER_TEXT);
});

test.each([
  ['verbs', 'fix '.repeat(250_000)],
  ['verbs with paths', `fix ${'a/'.repeat(50)}a `.repeat(9000)],
  ['one endless path', `fix ${'a/'.repeat(500_000)}#7`],
  ['dots', `fix ${'a.'.repeat(500_000)}#7`],
  ['blanks', `fix ${' '.repeat(90_000)}#7${' '.repeat(900_000)}`],
  ['blanks behind a number', `fix #7${' '.repeat(90_000)}x${' '.repeat(900_000)}`],
  ['blanks behind many numbers', `fix #7${' '.repeat(1000)}`.repeat(1000)],
  ['one number', 'closes #1, '.repeat(90_000)],
  ['addresses', `fix ${URL}/${'a/'.repeat(100)}-/issues/ `.repeat(4000)],
])('parses a million characters of %s within the CPU limit', (_, text) => {
  const started = process.cpuUsage();
  found(text);
  // Units: microseconds of CPU. Generous, because the machine is shared: a quadratic parser takes minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});
