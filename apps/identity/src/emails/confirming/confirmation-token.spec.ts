import { parseContextKeys } from '@rookery/platform';
import {
  deriveEmailConfirmationKeys,
  computeEmailConfirmationToken,
  parseConfirmationTokenEmailId,
  isConfirmationTokenValid,
  isEmailConfirmationExpired,
} from './confirmation-token';

const masterKey = (id: string, fill: number): string => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const keys = deriveEmailConfirmationKeys(parseContextKeys(masterKey('k1', 1)));
const [key] = keys;
const asked = { id: 7, email: 'ann@mail.example', confirmation_requested_at: new Date('2026-11-21T09:00:00.000Z') };
const token = computeEmailConfirmationToken(asked, key);

describe('the token of a confirmation link', () => {
  it('is deterministic, and contains the id of the e-mail row', () => {
    expect(computeEmailConfirmationToken(asked, key)).toBe(token);
    expect(token).toMatch(/^7\.[A-Za-z0-9_-]{43}$/);
    expect(parseConfirmationTokenEmailId(token)).toBe(7);
    expect(isConfirmationTokenValid(token, asked, keys)).toBe(true);
    expect(isConfirmationTokenValid(token, { ...asked, email: 'ANN@mail.example' }, keys)).toBe(true);
  });

  it('depends on the row, the address, the time of the request and the key', () => {
    const later = new Date('2026-11-21T09:00:00.001Z');
    for (const other of [
      { ...asked, id: 8 },
      { ...asked, email: 'bob@mail.example' },
      { ...asked, confirmation_requested_at: later },
    ]) {
      expect(isConfirmationTokenValid(token, other, keys)).toBe(false);
    }
    expect(
      isConfirmationTokenValid(token, asked, deriveEmailConfirmationKeys(parseContextKeys(masterKey('k1', 2)))),
    ).toBe(false);
    expect(isConfirmationTokenValid(`7.${'A'.repeat(43)}`, asked, keys)).toBe(false);
  });

  it('stays valid after a key rotation while the old key is configured', () => {
    const turned = deriveEmailConfirmationKeys(parseContextKeys(`${masterKey('k2', 2)},${masterKey('k1', 1)}`));
    expect(isConfirmationTokenValid(token, asked, turned)).toBe(true);
    expect(computeEmailConfirmationToken(asked, turned[0])).not.toBe(token);
    expect(turned).toHaveLength(2);
  });

  it.each([
    '',
    '7',
    '7.',
    'x.y',
    '0.abc',
    `${'9'.repeat(16)}.${'A'.repeat(43)}`,
    `7.${'A'.repeat(44)}`,
    `7.${'+'.repeat(43)}`,
  ])('rejects %j', (text) => expect(parseConfirmationTokenEmailId(text)).toBeNull());

  it('is valid for three days', () => {
    const at = (text: string): boolean => isEmailConfirmationExpired(asked, new Date(text));
    expect([at('2026-11-24T08:59:59.999Z'), at('2026-11-24T09:00:00.000Z')]).toEqual([false, true]);
  });
});
