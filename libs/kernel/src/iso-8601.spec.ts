import { readDay, readInstant } from './iso-8601';

describe('years', () => {
  it.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+01:00', '9999-12-31T22:59:59.000Z'],
    ['9999-12-30T24:00:00Z', '9999-12-31T00:00:00.000Z'],
  ])('reads %s', (text, instant) => expect(readInstant(text)?.toISOString()).toBe(instant));

  it.each(['0001-01-01T00:00:00+01:00', '9999-12-31T24:00:00Z', '9999-12-31T23:59:59-01:00'])(
    'refuses %s, which is in year 0 or 10000 in UTC',
    (text) => {
      expect(readInstant(text)).toBeNull();
      expect(readDay(text)).toBeNull();
    },
  );

  it.each(['0001-01-01', '9999-12-31'])('reads %s', (day) => expect(readDay(day)).toBe(day));
});
