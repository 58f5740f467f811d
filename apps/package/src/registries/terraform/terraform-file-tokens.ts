import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@rookery/kernel';
import type { Clock, Viewer } from '@rookery/kernel';
import { ContextSigningKeys } from '@rookery/platform';

/** Lifetime of an address. Units: seconds. Source: reference packages-and-admin 4.10. */
const LIFETIME = 300;
/** File, time of expiry, user (0: anonymous), rights of the user, signature. */
const TOKEN = /^([1-9]\d{0,14})\.([1-9]\d{9,11})\.(0|[1-9]\d{0,14})\.([0-3])\.([A-Za-z0-9_-]{43})$/;

/** The right of a caller to read a file. */
export interface TerraformFileRight {
  readonly fileId: number;
  readonly viewer: Viewer;
}

/**
 * Tokens in the addresses of modules, because clients fetch these without their credential. The token names the caller,
 * whose rights are checked again; it holds nothing that could be used elsewhere.
 */
@Injectable()
export class TerraformFileTokens {
  private readonly keys: readonly [Buffer, ...Buffer[]];

  constructor(
    @Inject(ContextSigningKeys) keys: ContextSigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.keys = keys.deriveKeys('rookery terraform files', 'package');
  }

  /** Returns a token of visible ASCII characters that need no escape in a URL. */
  createToken({ fileId, viewer }: TerraformFileRight): string {
    const expires = Math.floor(this.clock.now().getTime() / 1000) + LIFETIME;
    const rights = (viewer.isAdmin ? 1 : 0) + (viewer.isExternal ? 2 : 0);
    const claims = `${fileId}.${expires}.${viewer.userId ?? 0}.${rights}`;
    return `${claims}.${computeFileTokenMac(claims, this.keys[0]).toString('base64url')}`;
  }

  /**
   * Returns the right that a token gives to a request of `viewer`. Returns null for a forged, malformed or expired
   * token.
   */
  readToken(token: string, viewer: Viewer): TerraformFileRight | null {
    const [, file, expires, user, rights, signature] = TOKEN.exec(token) ?? [];
    if (signature === undefined || Number(expires) * 1000 <= this.clock.now().getTime()) return null;
    const presented = Buffer.from(signature, 'base64url');
    const claims = token.slice(0, token.lastIndexOf('.'));
    if (!this.keys.some((key) => timingSafeEqual(presented, computeFileTokenMac(claims, key)))) return null;
    const userId = Number(user) || null;
    const [isAdmin, isExternal] = [(Number(rights) & 1) !== 0, (Number(rights) & 2) !== 0];
    return { fileId: Number(file), viewer: { ...viewer, userId, isAdmin, isExternal } };
  }
}

function computeFileTokenMac(claims: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(claims).digest();
}
