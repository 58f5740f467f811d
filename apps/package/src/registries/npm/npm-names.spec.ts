import {
  isNpmPackageName,
  isNpmTagName,
  isNormalizedNpmVersion,
  parseNpmTarget,
  parseNpmTarballVersion,
} from './npm-names';

it.each(['a', 'A.b_c-d+e', '@scope/name', '@scope.x/name', 'package_files', 'constructor'])('%s is a name', (name) =>
  expect(isNpmPackageName(name)).toBe(true),
);
it.each([
  ...['', '-', '.', '..', 'a..b', '@scope/..', '@scope/-', '@/a', '@scope/', 'a/b', '@a/b/c', 'a%2fb', 'a b', 'ä'],
  ...['@scope%2fname', '../a', '@../a', '@-/a', '-rev', 'a'.repeat(256), 'a\u0000', 'а'],
])('%j is no name', (name) => expect(isNpmPackageName(name)).toBe(false));

it.each(['1.0.0', '1.0.0-beta.1', '1.0.0+build', '1.0.0-a+b.c'])('%s is a version', (text) =>
  expect(isNormalizedNpmVersion(text)).toBe(true),
);
it.each([
  '',
  '1',
  '1.0',
  'v1.0.0',
  '=1.0.0',
  ' 1.0.0',
  '1.0.0 ',
  '01.0.0',
  '1.0.0-',
  'latest',
  `1.0.0-${'a'.repeat(255)}`,
])('%j is no version', (text) => expect(isNormalizedNpmVersion(text)).toBe(false));

it.each(['latest', 'next-1', '__proto__', 'b.c'])('%s is a tag', (text) => expect(isNpmTagName(text)).toBe(true));
it.each(['', ' ', '1', '1.0.0', '^1', 'v1', '*', 'x', 'a\n', 'a'.repeat(256)])('%j is no tag', (text) =>
  expect(isNpmTagName(text)).toBe(false),
);

it.each([
  ['a', 'a-1.0.0.tgz', '1.0.0'],
  ['@s/a', 'a-1.0.0.tgz', '1.0.0'],
  ['@s/a', '@s/a-1.0.0-b.1.tgz', '1.0.0-b.1'],
  ['@s/a', '@t/a-1.0.0.tgz', null],
  ['@s/a', 'b-1.0.0.tgz', null],
  ['a', 'a-1.0.0.zip', null],
  ['a', 'x/a-1.0.0.tgz', null],
])('%s has the file %s of version %s', (name, file, version) =>
  expect(parseNpmTarballVersion(name, file)).toBe(version),
);

it.each([
  ['a', { kind: 'package', name: 'a' }],
  ['@s/a', { kind: 'package', name: '@s/a' }],
  ['a/1.0.0', { kind: 'version', name: 'a', versionOrTag: '1.0.0' }],
  ['@s/a/latest', { kind: 'version', name: '@s/a', versionOrTag: 'latest' }],
  ['-/all', null],
  ['a/b/c', null],
  ['@s', null],
])('the path %s means %j', (path, target) => expect(parseNpmTarget(path)).toEqual(target));
