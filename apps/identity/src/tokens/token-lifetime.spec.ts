import { Refused } from '@rookery/kernel';
import { chooseTokenExpiryDay, isActive, countPassedExpiryNotices } from './token-lifetime';
import { digestTokenSecret, createTokenSecret } from './token-terms';

const now = new Date('2026-11-21T15:00:00Z');
const rule = { now, maxDays: 365, defaultDays: 365 };

describe('the expiry day of a token', () => {
  it('is by default the last allowed day', () => {
    expect(chooseTokenExpiryDay(undefined, rule)).toBe('2027-11-21');
    expect(chooseTokenExpiryDay(undefined, { ...rule, defaultDays: 7 })).toBe('2026-11-28');
    expect(chooseTokenExpiryDay('2026-12-24', rule)).toBe('2026-12-24');
    expect(chooseTokenExpiryDay('2027-11-21', rule)).toBe('2027-11-21');
  });

  it('may be today; the token is expired then', () => {
    expect(chooseTokenExpiryDay('2026-11-21', rule)).toBe('2026-11-21');
    expect(isActive({ revoked: false, expiresOn: '2026-11-21' }, now)).toBe(false);
    expect(isActive({ revoked: false, expiresOn: '2026-11-22' }, now)).toBe(true);
    expect(isActive({ revoked: true, expiresOn: '2026-11-22' }, now)).toBe(false);
  });

  it('must be neither in the past nor too far in the future', () => {
    expect(() => chooseTokenExpiryDay('2026-11-20', rule)).toThrow(
      new Refused('Expiration date cannot be in the past'),
    );
    expect(() => chooseTokenExpiryDay('2027-11-22', rule)).toThrow(
      new Refused('Expiration date must be before 2027-11-22'),
    );
  });
});

describe('a token secret', () => {
  it('has the prefix, 20 URL-safe characters and a digest of 32 bytes', () => {
    expect(createTokenSecret()).toMatch(/^glpat-[A-Za-z0-9_-]{20}$/);
    expect(digestTokenSecret('glpat-x')).toHaveLength(32);
    expect(createTokenSecret()).not.toBe(createTokenSecret());
  });
});

describe('expiry notices of a token', () => {
  it.each([
    [365, 0],
    [61, 0],
    [60, 1],
    [31, 1],
    [30, 2],
    [8, 2],
    [7, 3],
    [1, 3],
    [0, 4],
    [-5, 4],
  ])('with %i days left %i are not due any more', (daysLeft, passed) =>
    expect(countPassedExpiryNotices(daysLeft)).toBe(passed),
  );
});
