import { matchesDuplicateExceptionPattern, findDuplicateExceptionPatternProblem } from './exception-pattern';

test.each([
  ['', '', false],
  ['', 'tool', false],
  ['tool', 'tool', true],
  ['tool', 'tools', false],
  ['tool', 'a tool', false],
  ['tool|v.+', 'v1', true],
  ['tool|v.+', 'xtool', false],
  ['.*SNAPSHOT', '1.0-SNAPSHOT', true],
  ['(?i)TOOL', 'tool', true],
])('%j matches %j: %j', (pattern, text, expected) =>
  expect(matchesDuplicateExceptionPattern(pattern, text)).toBe(expected),
);

test.each(['SNAPSHOT', '.*', 'v.+', 'v10.1.*', '(?:v.+|SNAPSHOT|TEMP)', ''])('%j is valid', (pattern) =>
  expect(findDuplicateExceptionPatternProblem(pattern)).toBeNull(),
);

test.each(['[', '(?:v.+|SNAPSHOT|TEMP', 'a)|(.*', '(?<=a)b', '\\1', '((a{100}){100}){100}'])(
  '%j is invalid',
  (pattern) => expect(findDuplicateExceptionPatternProblem(pattern)).toBe('is not valid RE2 syntax'),
);

test('a pattern has at most 255 characters', () => {
  expect(findDuplicateExceptionPatternProblem('a'.repeat(255))).toBeNull();
  expect(findDuplicateExceptionPatternProblem('a'.repeat(256))).toBe('is too long (maximum is 255 characters)');
});

test('a pattern that makes other engines backtrack takes a moment', () => {
  const took = (): number => {
    const started = performance.now();
    matchesDuplicateExceptionPattern('(a*)*(a*)*(a|a)*b', 'a'.repeat(255));
    return performance.now() - started;
  };
  // Other load on the machine can only make a run slower, so the fastest run counts.
  let best = Infinity;
  for (const end = Date.now() + 60_000; best >= 200 && Date.now() < end;) best = Math.min(best, took());
  expect(best).toBeLessThan(200);
});
