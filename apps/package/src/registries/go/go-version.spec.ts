import { findLatestGoVersion, parsePseudoVersion, createPseudoVersion, parseTagVersion } from './go-version';

test.each(['v0.0.1', 'v1.2.3-rc.1', 'v10.0.0', 'v2.0.0+incompatible'])('%s is a version of a tag', (text) =>
  expect(parseTagVersion(text)?.text).toBe(text),
);

test.each([
  '1.2.3',
  'v1.2',
  'v01.2.3',
  'v1.2.3-01',
  'v1.2.3+meta',
  'v1.2.3 ',
  'v0.0.0-20260102030405-abcdefabcdef',
  'main',
])('%j is none', (text) => expect(parseTagVersion(text)).toBeNull());

const commit = { id: 'abcdefabcdef0123'.padEnd(40, '0'), committed_at: '2026-01-02T03:04:05.000Z' };
test.each([
  [null, null, 'v0.0.0-20260102030405-abcdefabcdef'],
  [3, null, 'v3.0.0-20260102030405-abcdefabcdef'],
  [null, 'v1.2.3', 'v1.2.4-0.20260102030405-abcdefabcdef'],
  [null, 'v1.2.3-rc.1', 'v1.2.3-rc.1.0.20260102030405-abcdefabcdef'],
])('a commit after major %s and tag %s is %s', (major, base, text) => {
  expect(createPseudoVersion({ major }, base, commit)).toBe(text);
  expect(parsePseudoVersion(text)).toMatchObject({ base, rev: 'abcdefabcdef', time: '20260102030405' });
});

test.each([
  'v1.2.3',
  'v1.2.3-20260102030405-abcdefabcdef',
  'v1.2.0-0.20260102030405-abcdefabcdef',
  'v0.0.0-2026010203040-abcdefabcdef',
  'v0.0.0-20260102030405-ABCDEFABCDEF',
  'v0.0.0-20260102030405-abcdefabcdef+incompatible',
])('%s names no commit', (text) => expect(parsePseudoVersion(text)).toBeNull());

test('the latest version is a release, if there is one', () => {
  expect(findLatestGoVersion(['v1.9.0', 'v1.10.0', 'v2.0.0-rc.1'])).toBe('v1.10.0');
  expect(findLatestGoVersion(['v1.0.0-a', 'v1.0.0-b'])).toBe('v1.0.0-b');
  expect(findLatestGoVersion([])).toBeNull();
});
