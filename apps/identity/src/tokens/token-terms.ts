import { Inject, Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { Clock } from '@rookery/kernel';
import { CLOCK, scopesOf } from '@rookery/kernel';
import type { UserKind } from '../users/user.entity';
import {
  countPassedExpiryNotices,
  dayAfter,
  daysBetween,
  chooseTokenExpiryDay,
  ROTATED_LIFETIME_DAYS,
} from './token-lifetime';
import { createHash, randomBytes } from 'node:crypto';

/** Scopes that the token of a group or project may have. Source: reference identity-and-import 4.3. */
export const RESOURCE_SCOPES: readonly string[] = scopesOf('bot');

/**
 * Scopes that users may give their own tokens: they give access to almost nothing. Source: reference
 * identity-and-import 4.7.
 */
export const OWN_SCOPES: readonly string[] = ['k8s_proxy', 'self_rotate'];

/** Scopes that a token of a user or service account may have. */
export function listAllowedTokenScopes(holder: { readonly admin: boolean }): readonly string[] {
  return scopesOf(holder.admin ? 'administrator' : 'person');
}

/**
 * Returns a new secret that clients send: the prefix and 20 URL-safe characters (120 random bits). Source: reference
 * identity-and-import 4.2.
 */
export function createTokenSecret(prefix = 'glpat-'): string {
  return prefix + randomBytes(15).toString('base64url');
}

/**
 * Returns the stored digest of 32 bytes. Secrets are random, so a salt would add nothing and prevent the look-up by
 * index.
 */
export function digestTokenSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Terms of this instance for new tokens. Source: reference identity-and-import 4.2, 4.5. */
@Injectable()
export class TokenTerms {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly instance: InstanceSettings,
  ) {}

  /**
   * Returns the expiry of a new token. Returns null when none is requested and the instance does not require one.
   * Errors: Refused.
   */
  expiryOfNew(requested: string | undefined, holder?: UserKind): string | null {
    if (requested === undefined && !this.mustExpire(holder)) return null;
    return this.chooseExpiry(requested, this.instance.setting('max_personal_access_token_lifetime'));
  }

  /** Returns the expiry of a token that replaces another one. Errors: Refused. */
  expiryOfSuccessor(requested: string | undefined): string {
    return this.chooseExpiry(requested, ROTATED_LIFETIME_DAYS);
  }

  /**
   * Returns the expiry of a token that a user creates for themselves: by default the end of this day. Errors: Refused.
   */
  expiryOfOwn(requested: string | undefined): string {
    return this.chooseExpiry(requested, 1);
  }

  /** Returns the number of expiry notices that a token with this expiry never needs. */
  noticesBehind(expiresOn: string | null): number {
    return expiresOn === null ? 0 : countPassedExpiryNotices(daysBetween(dayAfter(this.clock.now(), 0), expiresOn));
  }

  createSecret(): string {
    return createTokenSecret(this.instance.setting('personal_access_token_prefix'));
  }

  private mustExpire(holderKind?: UserKind): boolean {
    const isLenient =
      holderKind === 'service_account' && !this.instance.setting('service_access_tokens_expiration_enforced');
    return !isLenient && this.instance.setting('require_personal_access_token_expiry');
  }

  private chooseExpiry(requested: string | undefined, defaultDays: number): string {
    return chooseTokenExpiryDay(requested, {
      now: this.clock.now(),
      maxDays: this.instance.setting('max_personal_access_token_lifetime'),
      defaultDays,
    });
  }
}
