import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ContextSigningKeys } from '@rookery/platform';

/** The subscription that a link ends: of one user to one noteable. */
export interface UnsubscribeSubject {
  readonly noteableType: string;
  readonly noteableId: number;
  readonly userId: number;
}

/** Derives the keys of links from the context keys of the service. The first key signs; all of them verify. */
export function deriveUnsubscribeLinkKeys(keys: ContextSigningKeys): readonly [Buffer, ...Buffer[]] {
  return keys.deriveKeys('rookery unsubscribe links', 'collaboration');
}

/**
 * Returns the key of a link: `<type>.<noteable id>.<user id>.<43 URL-safe characters>`. The key is not stored. E-mails
 * of one thread to one user have the same key, for as long as the service has the key that signed it.
 */
export function createUnsubscribeLinkKey(of: UnsubscribeSubject, key: Buffer): string {
  return `${of.noteableType}.${of.noteableId}.${of.userId}.${computeMac(of, key).toString('base64url')}`;
}

/** Returns the subject of a link. Returns null for a malformed or forged key. */
export function verifyUnsubscribeLinkKey(text: string, keys: readonly Buffer[]): UnsubscribeSubject | null {
  const match = /^([A-Za-z]{1,40})\.([1-9]\d{0,14})\.([1-9]\d{0,14})\.([A-Za-z0-9_-]{43})$/.exec(text);
  if (!match) return null;
  const subject = { noteableType: match[1]!, noteableId: Number(match[2]), userId: Number(match[3]) };
  const presented = Buffer.from(match[4]!, 'base64url');
  const isGenuine = keys.some((key) => timingSafeEqual(presented, computeMac(subject, key)));
  return isGenuine ? subject : null;
}

/** Returns the URL of the page of a link. `externalUrl` has no trailing slash. */
export function unsubscribeUrl(externalUrl: string, key: string): string {
  return `${externalUrl}/-/sent_notifications/${key}/unsubscribe`;
}

function computeMac({ noteableType, noteableId, userId }: UnsubscribeSubject, key: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([noteableType, noteableId, userId]))
    .digest();
}
