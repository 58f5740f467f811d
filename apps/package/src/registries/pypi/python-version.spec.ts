import { normalizePypiVersion } from './python-version';

describe('normalizePypiVersion', () => {
  it.each([
    ['1.0', '1', 'v1.0.0', '01.0', ' 1.0 ', '0!1.0'],
    ['1.0rc1', '1.0RC1', '1.0-c1', '1.0.pre.1', '1.0_preview1'],
    ['1.0a0', '1.0alpha', '1.0.a'],
    ['1.0.post1', '1.0-1', '1.0.rev1', '1.0r01'],
    ['1.0.dev0', '1.0dev', '1-dev-0'],
    ['1.0+ubuntu.1', '1.0+Ubuntu-01', '1+ubuntu_1'],
    ['1!2.0b3.post4.dev5+x', '1!2b3-4.dev5+X'],
  ])('is the same for %s and its other spellings', (first, ...others) => {
    expect(normalizePypiVersion(first)).not.toBeNull();
    for (const other of others)
      expect([other, normalizePypiVersion(other)]).toEqual([other, normalizePypiVersion(first)]);
  });

  it('tells different versions apart', () => {
    const versions = ['1.0', '1.0.1', '10', '1.0a1', '1.0b1', '1.0rc1', '1.0.post1', '1.0.dev1', '1.0+a', '1!1.0'];
    versions.push('9007199254740993', '9007199254740992');
    expect(new Set(versions.map(normalizePypiVersion)).size).toBe(versions.length);
  });

  it.each([
    '',
    'latest',
    '1..0',
    '1.0-',
    '1.0+',
    '1.0+a..b',
    '1.0 final',
    '1.0\n2',
    '-1',
    '1,0',
    `1.${'0'.repeat(300)}`,
  ])('is null for %j', (version) => {
    expect(normalizePypiVersion(version)).toBeNull();
  });

  it('takes linear time on hostile versions', () => {
    const started = process.cpuUsage();
    for (let turn = 0; turn < 100; turn++) expect(normalizePypiVersion(`${'1.'.repeat(120)}x`)).toBeNull();
    // Units: microseconds. Backtracking would not end within the test.
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  });
});
