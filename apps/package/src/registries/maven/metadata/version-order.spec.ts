import { sortMavenVersions } from './version-order';

/** Orders by `ComparableVersion` of Maven 3.8.7, from the oldest to the newest. */
describe('the order of Maven versions', () => {
  it.each([
    [['1-alpha2snapshot', '1-alpha2', '1-alpha-123', '1-beta-2', '1-beta123', '1-m2', '1-m11', '1-rc', '1-cr2']],
    [
      [
        '1-rc123',
        '1-SNAPSHOT',
        '1',
        '1-sp',
        '1-sp2',
        '1-sp123',
        '1-abc',
        '1-def',
        '1-pom-1',
        '1-1-snapshot',
        '1-1',
        '1-2',
      ],
    ],
    [
      [
        '2.0',
        '2.0.a',
        '2-1',
        '2.0.2',
        '2.0.123',
        '2.1.0',
        '2.1-a',
        '2.1b',
        '2.1-c',
        '2.1-1',
        '2.1.0.1',
        '2.2',
        '2.123',
      ],
    ],
    [['11.a2', '11.a11', '11.b2', '11.m2', '11', '11.a', '11.b', '11.c', '11.m']],
    [['1.9', '1.10', '1.100', '20190126.230843', '99999999999999999999', '100000000000000000000']],
    [['1.0-alpha-1', '1.0-alpha-1-1', '1.0-beta-1', '1.0-SNAPSHOT', '1.0', '1.0-1', '1.1-SNAPSHOT']],
  ])('%#', (expected) => {
    expect(sortMavenVersions([...expected].reverse())).toEqual(expected);
  });

  it.each([
    ['1', '1.0', '1.0.0', '1-0', '1.0-0', '1ga', '1-ga', '1.final', '1-RELEASE', '1.0-final'],
    ['1a1', '1-a1', '1-alpha-1', '1-ALPHA1'],
    ['1x', '1.0.0-x', '1.0.0x', '1X'],
    ['1-cr1', '1-rc1', '1-RC1'],
  ])('is equal for %s and others', (...versions) => {
    // Versions of equal order keep their places.
    expect(sortMavenVersions(versions)).toEqual(versions);
    expect(sortMavenVersions([...versions].reverse())).toEqual([...versions].reverse());
  });

  it('takes names of JavaScript and long runs for plain qualifiers', () => {
    const versions = ['1', '1-__proto__', '1-constructor', '1-tostring'];
    expect(sortMavenVersions([...versions].reverse())).toEqual(versions);
    const long = `1${'a1'.repeat(127)}`;
    expect(sortMavenVersions([long, '1'])).toHaveLength(2);
  });
});
