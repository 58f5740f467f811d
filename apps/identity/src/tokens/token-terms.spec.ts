import { InstanceSettings } from '@rookery/instance';
import type { ApplicationSettings } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import { TokenTerms } from './token-terms';

const clock = { now: () => new Date('2026-11-21T15:00:00Z') };
const createTerms = (over: Partial<ApplicationSettings> = {}) => {
  const settings = {
    max_personal_access_token_lifetime: 365,
    require_personal_access_token_expiry: true,
    personal_access_token_prefix: 'glpat-',
    service_access_tokens_expiration_enforced: true,
    ...over,
  };
  return new TokenTerms(clock as never, new InstanceSettings(settings as ApplicationSettings));
};

describe('the terms of a new token', () => {
  it('give it the maximum lifetime, a rotated one a week, and one created by its own user the rest of the day', () => {
    expect(createTerms().expiryOfNew(undefined)).toBe('2027-11-21');
    expect(createTerms().expiryOfSuccessor(undefined)).toBe('2026-11-28');
    expect(createTerms().expiryOfOwn(undefined)).toBe('2026-11-22');
  });

  it('give it no expiry where the instance does not require one, or the requested one', () => {
    const lenient = createTerms({ require_personal_access_token_expiry: false });
    expect(lenient.expiryOfNew(undefined)).toBeNull();
    expect(lenient.expiryOfNew('2026-12-24')).toBe('2026-12-24');
    expect(lenient.expiryOfSuccessor(undefined)).toBe('2026-11-28');
    expect(() => lenient.expiryOfNew('2028-01-01')).toThrow(Refused);
  });

  it('may allow only those of service accounts to have no expiry', () => {
    const lenient = createTerms({ service_access_tokens_expiration_enforced: false });
    expect([lenient.expiryOfNew(undefined, 'service_account'), lenient.expiryOfNew(undefined, 'human')]).toEqual([
      null,
      '2027-11-21',
    ]);
    expect(lenient.expiryOfNew('2026-12-24', 'service_account')).toBe('2026-12-24');
    expect(createTerms().expiryOfNew(undefined, 'service_account')).toBe('2027-11-21');
    expect(lenient.expiryOfSuccessor(undefined)).toBe('2026-11-28');
  });

  it('apply limits to requested days', () => {
    for (const name of ['expiryOfNew', 'expiryOfSuccessor', 'expiryOfOwn'] as const) {
      expect(() => createTerms()[name]('2026-11-20')).toThrow(new Refused('Expiration date cannot be in the past'));
      expect(() => createTerms()[name]('2027-11-22')).toThrow(new Refused('Expiration date must be before 2027-11-22'));
    }
    expect(createTerms({ max_personal_access_token_lifetime: 400 }).expiryOfNew('2027-12-26')).toBe('2027-12-26');
  });

  it('count the notices that are not due any more', () => {
    expect(createTerms().noticesBehind(null)).toBe(0);
    expect(createTerms().noticesBehind('2026-11-28')).toBe(3);
  });

  it('use the configured prefix for its secret', () => {
    expect(createTerms({ personal_access_token_prefix: 'rook-' }).createSecret()).toMatch(/^rook-[\w-]{20}$/);
  });
});
