import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { ContextClaims } from '@rookery/contracts';
import { RookeryError, Unavailable } from '@rookery/kernel';

/** How far the clocks of gateway and service may be apart, and how long a context lives. Units: milliseconds. */
export const CONTEXT_SKEW_MS = 30_000;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const MIN_KEY_BYTES = 32;
const MAX_HEADER_LENGTH = 16_384;

/** A context that nobody of ours made for this request: forged, for another service, or for another request. */
export class ContextRefused extends RookeryError {
  readonly code = 'context_refused';
  /** Shape: `why` is for the log; the caller learns nothing of it. */
  constructor(readonly why: 'malformed' | 'unknown key' | 'signature' | 'audience' | 'request') {
    super(`request context refused: ${why}`);
  }
}

/** Master keys by id, the first of which signs; keys per audience are derived once and kept. */
export class ContextKeys {
  private readonly derived = new Map<string, Map<string, KeyObject>>();
  readonly signingKeyId: string;

  constructor(private readonly masters: ReadonlyMap<string, Buffer>) {
    const first = masters.keys().next();
    if (first.done) throw new Error('no context key');
    this.signingKeyId = first.value;
  }

  /** The key of one audience; undefined when the id is not known. */
  of(keyId: string, audience: string): KeyObject | undefined {
    const known = this.derived.get(keyId)?.get(audience);
    return known ?? this.derive(keyId, audience);
  }

  private derive(keyId: string, audience: string): KeyObject | undefined {
    const master = this.masters.get(keyId);
    if (!master) return undefined;
    const key = createSecretKey(createHmac('sha256', master).update(`rookery context ${audience}`).digest());
    const byAudience = this.derived.get(keyId) ?? new Map<string, KeyObject>();
    this.derived.set(keyId, byAudience.set(audience, key));
    return key;
  }
}

/**
 * Reads `ROOKERY_CONTEXT_KEYS`: `kid:base64,kid2:base64`. The first signs, all verify, so that a key is changed by
 * adding the new one behind, then in front, then taking the old one away.
 * Errors: a plain Error that names the key id and never the key.
 */
export function contextKeys(text: string): ContextKeys {
  const masters = new Map<string, Buffer>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const colon = item.indexOf(':');
    const id = item.slice(0, Math.max(colon, 0));
    if (!KEY_ID.test(id)) throw new Error('a key has no id of the form kid:base64');
    if (masters.has(id)) throw new Error(`key id ${id} is there twice`);
    const encoded = item.slice(colon + 1);
    const key = Buffer.from(encoded, 'base64');
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) || key.length < MIN_KEY_BYTES) {
      throw new Error(`key ${id} is not base64 of at least ${MIN_KEY_BYTES} bytes`);
    }
    masters.set(id, key);
  }
  return new ContextKeys(masters);
}

/** The `req` claim: what the context is bound to. Shape: `rawUrl` is path and query as sent upstream. */
export function contextRequest(method: string, rawUrl: string): string {
  return `${method} ${rawUrl}`;
}

/**
 * The value of the context header, signed for `claims.aud`. Together with `verifyContext` at most 20 us.
 * Source: architecture 3.2, decisions 14.
 */
export function signContext(claims: ContextClaims, keys: ContextKeys): string {
  const keyId = keys.signingKeyId;
  const key = keys.of(keyId, claims.aud) as KeyObject;
  const signed = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${keyId}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

/**
 * The claims of a context header, once everything about it holds.
 * Units: `now` in epoch milliseconds.
 * Errors: ContextRefused; Unavailable when the clocks are more than 30 s apart (or the header is that old).
 */
export function verifyContext(
  header: string,
  expect: { readonly audience: string; readonly method: string; readonly rawUrl: string; readonly now: number },
  keys: ContextKeys,
): ContextClaims {
  const first = header.indexOf('.');
  const last = header.lastIndexOf('.');
  if (first < 1 || last <= first + 1 || header.length > MAX_HEADER_LENGTH) throw new ContextRefused('malformed');
  const key = keys.of(header.slice(first + 1, last), expect.audience);
  if (!key) throw new ContextRefused('unknown key');
  const wanted = createHmac('sha256', key).update(header.slice(0, last)).digest();
  const given = Buffer.from(header.slice(last + 1), 'base64url');
  // A context for another audience fails here too: its key is another one.
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw new ContextRefused('signature');
  const claims = JSON.parse(Buffer.from(header.slice(0, first), 'base64url').toString()) as ContextClaims;
  if (claims.aud !== expect.audience) throw new ContextRefused('audience');
  if (claims.req !== contextRequest(expect.method, expect.rawUrl)) throw new ContextRefused('request');
  if (Math.abs(expect.now - claims.iat) > CONTEXT_SKEW_MS) throw new Unavailable('request context (clocks differ)');
  return claims;
}
