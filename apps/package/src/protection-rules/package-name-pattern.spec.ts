import { matchesPackageNamePattern, findPackageNamePatternProblem } from './package-name-pattern';

describe('matchesPackageNamePattern', () => {
  it.each([
    ['@acme/tools', '@acme/tools', true],
    ['@acme/tools', '@ACME/Tools', true],
    ['@acme/tools', '@acme/tools-extra', false],
    ['@acme/*', '@acme/', true],
    ['@acme/*', '@acme/a/b', true],
    ['*', 'anything/at-all', true],
    ['*-prod*', 'x-production', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-b-c-d', false],
    ['100%_\\', '100%_\\', true],
    ['100%', '1000', false],
    ['*', '', false],
  ])('%s on %s: %s', (pattern, name, expected) => {
    expect(matchesPackageNamePattern(pattern, name, 'npm')).toBe(expected);
  });

  it.each([
    ['My_Pkg', 'my.pkg', true],
    ['my.__pkg*', 'My-Pkg_extra', true],
    ['my-pkg', 'mypkg', false],
  ])('normalizes both sides for PyPI: %s on %s: %s', (pattern, name, expected) => {
    expect(matchesPackageNamePattern(pattern, name, 'pypi')).toBe(expected);
    if (expected) expect(matchesPackageNamePattern(pattern, name, 'generic')).toBe(false);
  });

  it('takes linear time on hostile patterns', () => {
    const started = process.cpuUsage();
    expect(matchesPackageNamePattern(`${'a*'.repeat(100)}b`, 'a'.repeat(200), 'npm')).toBe(false);
    // Units: microseconds. Backtracking would not end within the test.
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  });
});

describe('findPackageNamePatternProblem', () => {
  it.each([
    ['npm', '@scope/name-*'],
    ['npm', '*'],
    ['npm', 'plain.name'],
    ['pypi', 'my-package*'],
    ['maven', 'com/example/*'],
    ['conan', 'any % thing'],
  ] as const)('%s accepts %s', (type, pattern) => {
    expect(findPackageNamePatternProblem(type, pattern)).toBeNull();
  });

  it.each([
    ['npm', '*@scope/name', 'NPM'],
    ['npm', '@scope/na%me', 'NPM'],
    ['npm', '@scope', 'NPM'],
    ['pypi', 'my package', 'PyPI'],
    ['pypi', '-x', 'PyPI'],
  ] as const)('%s refuses %s', (type, pattern, name) => {
    expect(findPackageNamePatternProblem(type, pattern)).toBe(
      `Package name pattern should be a valid ${name} package name with optional wildcard characters.`,
    );
  });

  it('refuses blank and too long patterns for every package type', () => {
    expect(findPackageNamePatternProblem('maven', ' ')).toBe("Package name pattern can't be blank");
    expect(findPackageNamePatternProblem('maven', 'x'.repeat(256))).toMatch(/too long/);
    expect(findPackageNamePatternProblem('maven', '\u{1F95A}'.repeat(256))).toMatch(/too long/);
  });

  it('counts characters', () => {
    expect(findPackageNamePatternProblem('maven', '\u{1F95A}'.repeat(255))).toBeNull();
  });
});
