import { INVALID, chooseCoercion, toDay, toFlag, toIdOrPath, toInstant, toInt, toText } from './coercion';

describe('whole numbers', () => {
  it.each([
    [5, 5],
    ['5', 5],
    ['-5', -5],
    ['007', 7],
    ['', null],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', INVALID],
    ['12345678901234567890', INVALID],
    [1.5, INVALID],
    ['1.5', INVALID],
    ['1e3', INVALID],
    ['0x1F', INVALID],
    ['5 ', INVALID],
    ['abc', INVALID],
    [true, INVALID],
    [[1], INVALID],
    [{}, INVALID],
  ])('reads %p as %p', (raw, value) => expect(toInt(raw)).toBe(value));
});

describe('flags', () => {
  const yes = [true, 1, 'true', 'True', 'TRUE', '1', 't', 'T', 'y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'];
  const no = [false, 0, 'false', 'False', 'FALSE', '0', 'f', 'F', 'n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'];
  it.each(yes)('reads %p as true', (raw) => expect(toFlag(raw)).toBe(true));
  it.each(no)('reads %p as false', (raw) => expect(toFlag(raw)).toBe(false));
  it('reads nothing as null', () => expect(toFlag('')).toBeNull());
  it.each([2, 'maybe', [], {}, 'tRue'])('refuses %p', (raw) => expect(toFlag(raw)).toBe(INVALID));
});

describe('texts', () => {
  it.each([
    ['a', 'a'],
    ['', ''],
    [5, '5'],
    [true, 'true'],
    ['a\0b', INVALID],
    [['a'], INVALID],
    [{ a: 1 }, INVALID],
  ])('reads %p as %p', (raw, value) => expect(toText(raw)).toBe(value));
});

describe('instants', () => {
  it.each([
    ['2020-01-15T12:36:29.590Z', '2020-01-15T12:36:29.590Z'],
    ['2020-01-15T12:36:29Z', '2020-01-15T12:36:29.000Z'],
    ['2020-01-15T12:36:29+02:00', '2020-01-15T10:36:29.000Z'],
    ['2020-01-15T12:36:29.123456+0200', '2020-01-15T10:36:29.123Z'],
    ['2020-01-15 12:36:29 UTC', '2020-01-15T12:36:29.000Z'],
    ['2020-01-15T12:36', '2020-01-15T12:36:00.000Z'],
    ['2020-01-15', '2020-01-15T00:00:00.000Z'],
    ['20190301T080001Z', '2019-03-01T08:00:01.000Z'],
    ['20190301T0800', '2019-03-01T08:00:00.000Z'],
    ['20190301t080001.25+0130', '2019-03-01T06:30:01.250Z'],
    ['2019-03-01 08:00:01+00', '2019-03-01T08:00:01.000Z'],
    ['2019-03-01 08:00:01 -05', '2019-03-01T13:00:01.000Z'],
    ['2019-03-01T08', '2019-03-01T08:00:00.000Z'],
    ['2019-03-01T08Z', '2019-03-01T08:00:00.000Z'],
    ['2019-03-01T24:00:00Z', '2019-03-02T00:00:00.000Z'],
    ['2019-03-01 08:00:01,123456789 UTC', '2019-03-01T08:00:01.123Z'],
    ['2019-W09-5T08:00:01Z', '2019-03-01T08:00:01.000Z'],
    ['2019W095', '2019-03-01T00:00:00.000Z'],
    ['2019-060', '2019-03-01T00:00:00.000Z'],
    ['2019060', '2019-03-01T00:00:00.000Z'],
  ])('reads %p as %p', (raw, value) => expect((toInstant(raw) as Date).toISOString()).toBe(value));
  it.each([
    '2020-02-30',
    '2020-13-01',
    'yesterday',
    '2020-01-15T25:00:00Z',
    5,
    '2020-1-5',
    '20201301',
    '20200230T080001Z',
    '2019-366',
    '2019-W54-1',
    '2019',
    '201903',
    '2019-03',
    '2019-03-01T',
    '2019-03-01 08:00:01 +00 x',
    '2019-03-01T08:60',
    '0000-01-01',
    '2019-03-01T08:00:00.Z',
    '2019-03-01T08:00+1',
    `2019-03-01T08:00:00.${'1'.repeat(100)}`,
    '20190301 T080001',
  ])('refuses %p', (raw) => expect(toInstant(raw)).toBe(INVALID));
  it('reads nothing as null', () => expect(toInstant('')).toBeNull());
});

describe('days', () => {
  it.each([
    ['2024-02-29', '2024-02-29'],
    ['2024-02-29T10:00:00Z', '2024-02-29'],
    ['20270105', '2027-01-05'],
    ['20270105T230000Z', '2027-01-05'],
    ['2027-01-05 23:00:00-05', '2027-01-05'],
    ['2027-W01-2', '2027-01-05'],
    ['2027-005', '2027-01-05'],
    ['20270230', INVALID],
    ['20271301', INVALID],
    ['2027-01-05T25:00', INVALID],
    ['2027', INVALID],
    [20270105, INVALID],
    ['2023-02-29', INVALID],
    ['29.02.2024', INVALID],
    ['', null],
  ])('reads %p as %p', (raw, value) => expect(toDay(raw)).toBe(value));
});

describe('ids and paths', () => {
  it.each([
    ['5', 5],
    [5, 5],
    ['group/project', 'group/project'],
    ['12345678901234567890', '12345678901234567890'],
    [1e21, INVALID],
    ['a\0', INVALID],
  ])('reads %p as %p', (raw, value) => expect(toIdOrPath(raw)).toBe(value));
});

describe('choices', () => {
  const level = chooseCoercion({ kind: 'oneOf', values: [10, 20] });
  it.each([
    ['20', 20],
    [20, 20],
    ['30', '30'],
    ['', null],
    ['ten', INVALID],
  ])('of numbers read %p as %p', (raw, value) => expect(level(raw)).toBe(value));
});

describe('lists', () => {
  const ints = chooseCoercion({ kind: 'list', of: 'int', max: 10, splitItems: true, refuseEmpty: false });
  const texts = chooseCoercion({ kind: 'list', of: 'text', max: 10, splitItems: false, refuseEmpty: false });
  it.each([
    [
      [1, '2'],
      [1, 2],
    ],
    ['1,2, 3', [1, 2, 3]],
    [['1,2'], [1, 2]],
    [5, [5]],
    ['', []],
    [[''], []],
    [{ 1: '7', 0: '6' }, [6, 7]],
    ['1,x', INVALID],
    [{ a: 1 }, INVALID],
    [true, INVALID],
  ])('reads numbers in %p as %p', (raw, value) => expect(ints(raw)).toEqual(value));
  it('splits one text on commas, but not the items of an array', () => {
    expect(texts('a, b')).toEqual(['a', 'b']);
    expect(texts(['a, b', 'c'])).toEqual(['a, b', 'c']);
    expect(texts([{ a: 1 }])).toBe(INVALID);
  });
});

describe('hashes', () => {
  it('have no prototype that a key could reach', () => {
    const raw: unknown = JSON.parse('{"__proto__":"x","constructor":"y","a":1}');
    const hash = chooseCoercion({ kind: 'hash', of: 'text' })(raw) as Record<string, unknown>;
    expect({ ...hash }).toEqual({ constructor: 'y', a: '1' });
    expect(Object.getPrototypeOf(hash)).toBeNull();
  });
  it('coerce flags, and refuse other values', () => {
    const flags = chooseCoercion({ kind: 'hash', of: 'flag' });
    expect({ ...(flags({ a: 'true', b: 0 }) as object) }).toEqual({ a: true, b: false });
    expect(flags({ a: 'maybe' })).toBe(INVALID);
    expect(flags('text')).toBe(INVALID);
  });
  it.each(['\0', '\ud83d', '\ude00'])('refuse %j in keys and values', (broken) => {
    expect(chooseCoercion({ kind: 'hash', of: 'any' })({ a: [{ b: `x${broken}` }] })).toBe(INVALID);
    expect(chooseCoercion({ kind: 'hash', of: 'text' })({ [`a${broken}`]: 'b' })).toBe(INVALID);
    expect(chooseCoercion({ kind: 'any' })({ [`x${broken}`]: 1 })).toBe(INVALID);
    expect(chooseCoercion({ kind: 'any' })([`x${broken}y`])).toBe(INVALID);
    expect(toText(`x${broken}y`)).toBe(INVALID);
    expect(toIdOrPath(`x${broken}y`)).toBe(INVALID);
  });
  it('accept characters of every Unicode plane', () => {
    expect(chooseCoercion({ kind: 'any' })({ 'ä😀': ['🐦\u200d⬛'] })).toEqual({ 'ä😀': ['🐦\u200d⬛'] });
    expect(toText('ä😀')).toBe('ä😀');
  });
});
