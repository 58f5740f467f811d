import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ContextSigningKeys } from '@rookery/platform';

/** Lifetime of a link. Units: days. Source: reference identity-and-import 10.5. */
const CONFIRMATION_DAYS = 3;

/** Values that a link is bound to: the row, the address, and the time of the request. */
export interface Confirmable {
  readonly id: number;
  readonly email: string;
  readonly confirmation_requested_at: Date;
}

/** Derives the keys of links from the context keys of identity. The first key signs; all of them verify. */
export function deriveEmailConfirmationKeys(keys: ContextSigningKeys): readonly [Buffer, ...Buffer[]] {
  return keys.deriveKeys('rookery e-mail confirmation', 'identity');
}

/**
 * Returns the secret of a link: `<email id>.<43 URL-safe characters>`. It is not stored, but derived again whenever the
 * e-mail is sent again. Source: reference identity-and-import 10.5.
 */
export function computeEmailConfirmationToken(confirmable: Confirmable, key: Buffer): string {
  return `${confirmable.id}.${computeConfirmationMac(confirmable, key).toString('base64url')}`;
}

/** Returns the email id that a token claims, unverified. Returns null for a malformed token. */
export function parseConfirmationTokenEmailId(token: string): number | null {
  const match = /^([1-9]\d{0,14})\.[A-Za-z0-9_-]{43}$/.exec(token);
  return match ? Number(match[1]) : null;
}

export function isConfirmationTokenValid(token: string, confirmable: Confirmable, keys: readonly Buffer[]): boolean {
  const presented = Buffer.from(token.slice(token.indexOf('.') + 1), 'base64url');
  return keys.some((key) => {
    const expected = computeConfirmationMac(confirmable, key);
    return presented.length === expected.length && timingSafeEqual(presented, expected);
  });
}

export function isEmailConfirmationExpired(confirmable: Confirmable, now: Date): boolean {
  return now.getTime() - confirmable.confirmation_requested_at.getTime() >= CONFIRMATION_DAYS * 86_400_000;
}

function computeConfirmationMac({ id, email, confirmation_requested_at: at }: Confirmable, key: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([id, email.toLowerCase(), at.toISOString()]))
    .digest();
}
