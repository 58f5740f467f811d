import { Inject, Injectable } from '@nestjs/common';
import { Instance } from '@rookery/instance';
import type { Clock } from '@rookery/kernel';
import { CLOCK, scopesOf } from '@rookery/kernel';
import type { UserKind } from '../users/user.entity';
import { noticesPassed, dayAfter, daysBetween, expiryDay, ROTATED_LIFETIME_DAYS } from './token-lifetime';
import { createHash, randomBytes } from 'node:crypto';

/** Scopes that the token of a group or project may carry. Source: reference identity-and-import 4.3. */
export const RESOURCE_SCOPES: readonly string[] = scopesOf('bot');

/** Scopes that anybody may give a token of their own: they open next to nothing. Source: reference identity-and-import 4.7. */
export const OWN_SCOPES: readonly string[] = ['k8s_proxy', 'self_rotate'];

/** Scopes that a token of a person or a service account may carry. */
export function scopesFor(holder: { readonly admin: boolean }): readonly string[] {
  return scopesOf(holder.admin ? 'administrator' : 'person');
}

/** What a client presents. Shape: prefix and 20 URL-safe characters (120 random bits). Source: reference identity-and-import 4.2. */
export function newSecret(prefix = 'glpat-'): string {
  return prefix + randomBytes(15).toString('base64url');
}

/** What is kept: 32 bytes. The secrets are random, so a salt would add nothing and cost the index look-up. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The terms of this instance for a new token. Source: reference identity-and-import 4.2, 4.5. */
@Injectable()
export class TokenTerms {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly instance: Instance,
  ) {}

  /**
   * The day on which a new token ends; null when none is asked for and the instance does not insist on one.
   * Errors: Refused.
   */
  expiryOfNew(requested: string | undefined, holder?: UserKind): string | null {
    if (requested === undefined && !this.mustEnd(holder)) return null;
    return this.expiry(requested, this.instance.setting('max_personal_access_token_lifetime'));
  }

  /** The day on which a token ends that takes the place of another. Errors: Refused. */
  expiryOfSuccessor(requested: string | undefined): string {
    return this.expiry(requested, ROTATED_LIFETIME_DAYS);
  }

  /** The end of this day; people who need a token for longer ask for more. Errors: Refused. */
  expiryOfOwn(requested: string | undefined): string {
    return this.expiry(requested, 1);
  }

  /** Notices of its end that a token with this life never needs. */
  noticesBehind(expiresOn: string | null): number {
    return expiresOn === null ? 0 : noticesPassed(daysBetween(dayAfter(this.clock.now(), 0), expiresOn));
  }

  secret(): string {
    return newSecret(this.instance.setting('personal_access_token_prefix'));
  }

  private mustEnd(holder?: UserKind): boolean {
    const isLenient =
      holder === 'service_account' && !this.instance.setting('service_access_tokens_expiration_enforced');
    return !isLenient && this.instance.setting('require_personal_access_token_expiry');
  }

  private expiry(requested: string | undefined, defaultDays: number): string {
    return expiryDay(requested, {
      now: this.clock.now(),
      maxDays: this.instance.setting('max_personal_access_token_lifetime'),
      defaultDays,
    });
  }
}
