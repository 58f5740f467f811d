import { createHmac, timingSafeEqual } from 'node:crypto';
import { SERVICE_NAMES } from '@rookery/contracts';
import type { ContextSigningKeys } from '@rookery/platform';
import type { Credential } from './credential';

/** Lifetime of a token. Units: seconds. Source: reference packages-and-admin 4.13. */
const LIFETIME = 3600;
/** Longest difference between the clocks of gateways. Units: seconds. */
const SKEW = 60;
/** Time of expiry, kind of the credential, its digest, signature. */
const TOKEN = /^conan-([1-9]\d{9,11})\.(token|job)\.([0-9a-f]{64})\.([A-Za-z0-9_-]{43})$/;

/**
 * Tokens that Conan gets for a credential and sends in its place. A token names the credential by its digest, so that it ends
 * with the credential, and routes of other clients do not accept it. Source: ADR 0206.
 */
export class ConanClientTokens {
  private readonly keys: readonly [Buffer, ...Buffer[]];

  constructor(keys: ContextSigningKeys) {
    // No service has the keys of all services, so none can forge tokens.
    this.keys = keys.deriveKeys('rookery client tokens', ...SERVICE_NAMES);
  }

  /** Returns the token for a credential. A credential that is such a token keeps its time of expiry. */
  createToken({ kind, digest, expires }: Credential): string {
    const claims = `${expires ?? Math.floor(Date.now() / 1000) + LIFETIME}.${kind}.${digest}`;
    return `conan-${claims}.${computeMac(claims, this.keys[0]).toString('base64url')}`;
  }

  /**
   * Returns the credential that a token names. Returns null for a text that is not a token. Also returns null for a
   * token that is forged, expired, or valid for longer than any issued token.
   */
  readToken(token: string): Credential | null {
    const [, expires, kind, digest, signature] = TOKEN.exec(token) ?? [];
    const seconds = Number(expires) - Date.now() / 1000;
    if (signature === undefined || seconds <= 0 || seconds > LIFETIME + SKEW) return null;
    const presented = Buffer.from(signature, 'base64url');
    const claims = `${expires}.${kind}.${digest}`;
    if (!this.keys.some((key) => timingSafeEqual(presented, computeMac(claims, key)))) return null;
    return { kind: kind as Credential['kind'], digest: digest!, expires: Number(expires) };
  }
}

function computeMac(claims: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(claims).digest();
}
