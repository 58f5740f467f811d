import { createHash, createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { ContextClaims } from '@rookery/contracts';
import { RookeryError, Unavailable } from '@rookery/kernel';

/** Longest difference between the clocks of gateway and service, and lifetime of a context. Units: milliseconds. */
export const CONTEXT_SKEW_MS = 30_000;
/** Name (`kid` or `kid/audience`) and key. */
const ITEM = /^([A-Za-z0-9_-]{1,32}(?:\/[a-z]{1,32})?):(.*)$/;
const MIN_KEY_BYTES = 32;
const MAX_HEADER_LENGTH = 16_384;

/** A context that the gateway did not sign for this request: forged, for another service, or for another request. */
export class ContextRefused extends RookeryError {
  readonly code = 'context_refused';
  /** `why` is for the log; it is not sent to the caller. */
  constructor(readonly why: 'malformed' | 'unknown key' | 'signature' | 'audience' | 'request') {
    super(`request context refused: ${why}`);
  }
}

/**
 * Keys by id, the first of which signs. A process has master keys, from which the key of each audience is derived once,
 * or only derived keys for itself: then it can neither sign nor verify for another. Source: reference reliability 6.1.
 */
export class ContextSigningKeys {
  private readonly derived = new Map<string, KeyObject>();

  constructor(
    readonly signingKeyId: string,
    private readonly masters: ReadonlyMap<string, Buffer>,
    own: ReadonlyMap<string, Buffer>,
  ) {
    for (const [name, key] of own) this.derived.set(name, createSecretKey(key));
  }

  /** Whether these keys would allow signing or verifying for a process other than this one. */
  reachesBeyond(process: string): boolean {
    const isForeign = (name: string): boolean => name.slice(name.indexOf('/') + 1) !== process;
    return this.masters.size > 0 || [...this.derived.keys()].some(isForeign);
  }

  /** Returns the key of one audience; undefined if this process does not have it. */
  keyFor(keyId: string, audience: string): KeyObject | undefined {
    const name = `${keyId}/${audience}`;
    const known = this.derived.get(name);
    if (known) return known;
    const master = this.masters.get(keyId);
    if (!master) return undefined;
    const key = createSecretKey(createHmac('sha256', master).update(`rookery context ${audience}`).digest());
    this.derived.set(name, key);
    return key;
  }

  /**
   * Derives keys for another purpose, which only holders of an audience's keys can derive. Returns one key for each key
   * id, that of the signing key first. The first key creates, all keys verify. `purpose` separates uses. Keys of
   * several audiences can be derived by holders of all of them: by gateways.
   */
  deriveKeys(purpose: string, ...audiences: readonly string[]): readonly [Buffer, ...Buffer[]] {
    const ids = [...this.masters.keys(), ...this.derived.keys()].map((name) => name.split('/', 1)[0]!);
    const keys = [...new Set([this.signingKeyId, ...ids])].flatMap((id) => {
      const held = audiences.flatMap((audience) => this.keyFor(id, audience)?.export() ?? []);
      return held.length === audiences.length ? [Buffer.concat(held)] : [];
    });
    const [first, ...others] = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)));
    if (!first) throw new Error(`no context key for ${audiences.join(', ')}`);
    return [first, ...others];
  }
}

/**
 * Parses `ROOKERY_CONTEXT_KEYS`: comma-separated `kid:base64` (a master) or `kid/audience:base64` (derived, for one
 * audience). The first signs, all verify. To rotate a key, add the new one after the old, then before it, then remove
 * the old one.
 * Errors: a plain Error that names the key id and never the key.
 */
export function parseContextKeys(text: string): ContextSigningKeys {
  const masters = new Map<string, Buffer>();
  const own = new Map<string, Buffer>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const [, name = '', encoded = ''] = ITEM.exec(item) ?? [];
    if (name === '') throw new Error('a key has no id of the form kid:base64');
    if (masters.has(name) || own.has(name)) throw new Error(`key id ${name} is there twice`);
    const key = Buffer.from(encoded, 'base64');
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) || key.length < MIN_KEY_BYTES) {
      throw new Error(`key ${name} is not base64 of at least ${MIN_KEY_BYTES} bytes`);
    }
    (name.includes('/') ? own : masters).set(name, key);
  }
  return new ContextSigningKeys(text.trim().split(/[/:]/, 1)[0] as string, masters, own);
}

/**
 * Derives the value of `ROOKERY_CONTEXT_KEYS` for one service from the gateway's master keys.
 * Errors: as `parseContextKeys`; a plain Error when the text has no master.
 */
export function contextKeysFor(text: string, audience: string): string {
  const keys = parseContextKeys(text);
  const items = text.split(',').map((item) => {
    const keyId = item.trim().split(/[/:]/, 1)[0] as string;
    const key = keys.keyFor(keyId, audience);
    if (!key) throw new Error(`key ${keyId} is not a master`);
    return `${keyId}/${audience}:${key.export().toString('base64')}`;
  });
  return items.join(',');
}

/** A longer URL is replaced by its digest, so that a query of 16 KiB fits into the headers. Units: characters. */
const MAX_PLAIN_URL = 1024;

/** Returns the `req` claim: the request that the context is bound to. `rawUrl` is path and query as sent upstream. */
export function contextRequestClaim(method: string, rawUrl: string): string {
  if (rawUrl.length <= MAX_PLAIN_URL) return `${method} ${rawUrl}`;
  return `${method} sha256:${createHash('sha256').update(rawUrl).digest('base64url')}`;
}

/**
 * Signs a context header for `claims.aud`. Together with `verifyContext` at most 20 us.
 * Errors: a plain Error when this process has no key for the audience.
 * Source: reference reliability 6.1.
 */
export function signContext(claims: ContextClaims, keys: ContextSigningKeys): string {
  const keyId = keys.signingKeyId;
  const key = keys.keyFor(keyId, claims.aud);
  if (!key) throw new Error(`no context key for ${claims.aud}`);
  const signed = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${keyId}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

/** The request that a context must belong to. Units: `now` in epoch milliseconds. */
interface ExpectedRequest {
  readonly audience: string;
  readonly method: string;
  readonly rawUrl: string;
  readonly now: number;
}

/**
 * Verifies a context header and returns its claims.
 * Errors: ContextRefused; Unavailable when the clocks are more than 30 s apart (or the header is that old).
 */
export function verifyContext(header: string, expect: ExpectedRequest, keys: ContextSigningKeys): ContextClaims {
  const first = header.indexOf('.');
  const last = header.lastIndexOf('.');
  if (first < 1 || last <= first + 1 || header.length > MAX_HEADER_LENGTH) throw new ContextRefused('malformed');
  const key = keys.keyFor(header.slice(first + 1, last), expect.audience);
  if (!key) throw new ContextRefused('unknown key');
  const wanted = createHmac('sha256', key).update(header.slice(0, last)).digest();
  const given = Buffer.from(header.slice(last + 1), 'base64url');
  // A context for another audience fails here too: its key is another one.
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw new ContextRefused('signature');
  return checkClaims(JSON.parse(Buffer.from(header.slice(0, first), 'base64url').toString()) as ContextClaims, expect);
}

/**
 * Checks that claims belong to a request, and returns them. Only claims whose origin is certain are enough without a
 * signature: those of `verifyContext`, and those that the gateway passes within its process. Errors: as `verifyContext`.
 */
export function checkClaims(claims: ContextClaims, expect: ExpectedRequest): ContextClaims {
  if (claims.aud !== expect.audience) throw new ContextRefused('audience');
  if (claims.req !== contextRequestClaim(expect.method, expect.rawUrl)) throw new ContextRefused('request');
  if (Math.abs(expect.now - claims.iat) > CONTEXT_SKEW_MS) throw new Unavailable('clocks differ');
  return claims;
}
