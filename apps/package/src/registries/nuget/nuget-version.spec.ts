import { compareNugetVersionKeys, parseNugetVersion } from './nuget-version';

const keyOf = (text: string): string | undefined => parseNugetVersion(text)?.key;

it.each([
  ['1.0', '1.0.0'],
  ['1.0.0', '1.0.0'],
  ['1.0.0.0', '1.0.0'],
  ['01.002.3', '1.2.3'],
  ['1.0.0.5', '1.0.0.5'],
  ['1.0.0-RC.1', '1.0.0-rc.1'],
  ['1.0.0-rc+Build.5', '1.0.0-rc'],
  ['1.2+x', '1.2.0'],
  ['2147483647.1000000000.0.2147483647', '2147483647.1000000000.0.2147483647'],
])('%s is %s', (text, key) => expect(keyOf(text)).toBe(key));

it.each([
  '',
  '1',
  'v1.0.0',
  '1.0.0.0.0',
  '1.0-',
  '1.0-a..b',
  '1.0.x',
  '1.0 ',
  ' 1.0',
  '1.0\n',
  '9999999999.0',
  '2147483648.0',
  '1.0.0.2147483648',
  `1.0-${'a'.repeat(300)}`,
])('%j is no version', (text) => expect(keyOf(text)).toBeUndefined());

it('orders versions by numbers, then by labels', () => {
  const ordered = [
    '1.0.0-1',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-a',
    '1.0.0-a.1',
    '1.0.0-b',
    '1.0.0',
    '1.0.0.1',
    '1.2.0',
    '1.10.0',
  ];
  expect([...ordered].reverse().sort(compareNugetVersionKeys)).toEqual(ordered);
});
