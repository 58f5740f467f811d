import { Refused } from '@rookery/kernel';
import { createRefRegexFilter, createRefSearchFilter, moveExactRefMatchFirst } from './ref-search';

const NAMES = ['main', 'feature/x', 'Feature/main-2', 'fix-main', 'v1.0', 'a*b', 'main$'];

it.each([
  ['main', ['main', 'Feature/main-2', 'fix-main', 'main$']],
  ['MAIN', ['main', 'Feature/main-2', 'fix-main', 'main$']],
  ['^feature', ['feature/x', 'Feature/main-2']],
  ['main$', ['main', 'fix-main']],
  ['^main$', ['main']],
  ['f*main', ['Feature/main-2', 'fix-main']],
  ['^f*x$', ['feature/x']],
  ['*', NAMES],
  ['', NAMES],
  ['^', NAMES],
  ['.', ['v1.0']],
])('searches %j', (search, found) => {
  expect(NAMES.filter(createRefSearchFilter(search))).toEqual(found);
});

it.each([
  ['^feature/', ['feature/x']],
  ['(?i)^feature/', ['feature/x', 'Feature/main-2']],
  ['[0-9]$', ['Feature/main-2', 'v1.0']],
  ['^(main|v\\d+\\.\\d+)$', ['main', 'v1.0']],
])('selects names by the expression %j', (regex, found) => {
  expect(NAMES.filter(createRefRegexFilter(regex))).toEqual(found);
});

it.each(['(', '[', '(?=x)', 'a{1001}', '\\1', '((a{100}){100}){100}'])('refuses the expression %j', (regex) => {
  expect(() => createRefRegexFilter(regex)).toThrow(new Refused('Regex is invalid', { verbatim: true }));
});

it('takes linear time on hostile expressions', () => {
  const started = process.cpuUsage();
  expect(createRefRegexFilter('(a*)*(a*)*(a*)*b')('a'.repeat(20_000))).toBe(false);
  // Units: microseconds. Backtracking would not end within the test.
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});

it('moves an exact hit to the front', () => {
  const refs = ['a-main', 'Main', 'main-b'].map((shortName) => ({ shortName }));
  expect(moveExactRefMatchFirst(refs, 'main').map(({ shortName }) => shortName)).toEqual(['Main', 'a-main', 'main-b']);
  expect(moveExactRefMatchFirst(refs, 'none')).toEqual(refs);
});
