import { InvalidParameters } from '@rookery/kernel';
import { parseNugetFeedPackageKey, parseNugetFeedFilter, unquoteFeedText } from './feed-filter';

const NONE = { names: null, version: null, latest: null };

describe('a filter', () => {
  it.each([
    ['', NONE],
    ['IsLatestVersion', { ...NONE, latest: 'of releases' }],
    ['IsAbsoluteLatestVersion eq true', { ...NONE, latest: 'of all' }],
    ["(tolower(Id) eq 'nest.eggs')", { ...NONE, names: ['nest.eggs'] }],
    ["Id eq 'it''s'", { ...NONE, names: ["it's"] }],
    ["(tolower(Id) eq 'a') or (tolower(Id) eq 'b')", { ...NONE, names: ['a', 'b'] }],
    ["tolower(Id) eq 'a' and Version eq '1.0'", { ...NONE, names: ['a'], version: '1.0' }],
    ["Id eq 'a' and NormalizedVersion eq '1.0.0'", { ...NONE, names: ['a'], version: '1.0.0' }],
    ["(tolower(Id) eq 'a') and IsLatestVersion", { ...NONE, names: ['a'], latest: 'of releases' }],
  ])('%s is understood', (text, filter) => {
    expect(parseNugetFeedFilter(text)).toEqual(filter);
  });

  it.each([
    'DownloadCount gt 5',
    "Id eq 'a' and Id eq 'b'",
    "Id eq 'a' or Version eq '1.0'",
    "Id eq 'a' or IsLatestVersion",
    'IsLatestVersion and IsAbsoluteLatestVersion',
    "Version eq '1' and Version eq '2'",
    "Id eq 'a",
    "substringof('a',Id)",
    Array.from({ length: 51 }, () => "Id eq 'a'").join(' or '),
    ' '.repeat(5000),
  ])('%.60s is refused', (text) => {
    expect(() => parseNugetFeedFilter(text)).toThrow(InvalidParameters);
  });
});

test('keys and texts have quotation marks', () => {
  expect(parseNugetFeedPackageKey("Packages(Id='Nest.Eggs',Version='1.0')")).toEqual({
    name: 'Nest.Eggs',
    version: '1.0',
  });
  expect(parseNugetFeedPackageKey("Packages(Id='it''s', Version='')")).toEqual({ name: "it's", version: '' });
  for (const other of ['Packages()', "Packages(Id='a')", "Packages(Id='a',Version='1'')"])
    expect(parseNugetFeedPackageKey(other)).toBeNull();
  expect([unquoteFeedText("'a''b'"), unquoteFeedText('a'), unquoteFeedText("''")]).toEqual(["a'b", 'a', '']);
});
