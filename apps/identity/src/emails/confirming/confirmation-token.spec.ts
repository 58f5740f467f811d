import { parseContextKeys } from '@rookery/platform';
import {
  confirmationKeys,
  confirmationToken,
  parseEmailId,
  isConfirmationToken,
  isExpired,
} from './confirmation-token';

const masterKey = (id: string, fill: number): string => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const keys = confirmationKeys(parseContextKeys(masterKey('k1', 1)));
const [key] = keys;
const asked = { id: 7, email: 'ann@mail.example', confirmation_requested_at: new Date('2026-11-21T09:00:00.000Z') };
const token = confirmationToken(asked, key);

describe('the token of a confirmation link', () => {
  it('is deterministic, and contains the id of the e-mail row', () => {
    expect(confirmationToken(asked, key)).toBe(token);
    expect(token).toMatch(/^7\.[A-Za-z0-9_-]{43}$/);
    expect(parseEmailId(token)).toBe(7);
    expect(isConfirmationToken(token, asked, keys)).toBe(true);
    expect(isConfirmationToken(token, { ...asked, email: 'ANN@mail.example' }, keys)).toBe(true);
  });

  it('depends on the row, the address, the time of the request and the key', () => {
    const later = new Date('2026-11-21T09:00:00.001Z');
    for (const other of [
      { ...asked, id: 8 },
      { ...asked, email: 'bob@mail.example' },
      { ...asked, confirmation_requested_at: later },
    ]) {
      expect(isConfirmationToken(token, other, keys)).toBe(false);
    }
    expect(isConfirmationToken(token, asked, confirmationKeys(parseContextKeys(masterKey('k1', 2))))).toBe(false);
    expect(isConfirmationToken(`7.${'A'.repeat(43)}`, asked, keys)).toBe(false);
  });

  it('stays valid after a key rotation while the old key is configured', () => {
    const turned = confirmationKeys(parseContextKeys(`${masterKey('k2', 2)},${masterKey('k1', 1)}`));
    expect(isConfirmationToken(token, asked, turned)).toBe(true);
    expect(confirmationToken(asked, turned[0])).not.toBe(token);
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
  ])('rejects %j', (text) => expect(parseEmailId(text)).toBeNull());

  it('is valid for three days', () => {
    const at = (text: string): boolean => isExpired(asked, new Date(text));
    expect([at('2026-11-24T08:59:59.999Z'), at('2026-11-24T09:00:00.000Z')]).toEqual([false, true]);
  });
});
