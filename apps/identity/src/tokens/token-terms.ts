import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { noticesPassed } from '../token-notices/notice-days';
import { dayAfter, daysBetween, expiryDay, ROTATED_LIFETIME_DAYS } from './token-lifetime';
import { newSecret } from './token-secret';

/** The terms of this instance for a new token. Source: reference identity-and-import 4.2, 4.5. */
@Injectable()
export class TokenTerms {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /**
   * The day on which a new token ends; null when none is asked for and the instance does not insist on one.
   * Errors: Refused.
   */
  expiryOfNew(requested: string | undefined): string | null {
    if (requested === undefined && !this.settings.tokenExpiryRequired) return null;
    return this.expiry(requested, this.settings.tokenMaxLifetimeDays);
  }

  /** The day on which a token ends that takes the place of another. Errors: Refused. */
  expiryOfSuccessor(requested: string | undefined): string {
    return this.expiry(requested, ROTATED_LIFETIME_DAYS);
  }

  /** The end of this day; only whoever needs a token for longer asks for more. Errors: Refused. */
  expiryOfOwn(requested: string | undefined): string {
    return this.expiry(requested, 1);
  }

  /** Notices of its end that a token with this life never needs. */
  noticesBehind(expiresOn: string | null): number {
    return expiresOn === null ? 0 : noticesPassed(daysBetween(dayAfter(this.clock.now(), 0), expiresOn));
  }

  secret(): string {
    return newSecret(this.settings.tokenPrefix);
  }

  private expiry(requested: string | undefined, defaultDays: number): string {
    return expiryDay(requested, { now: this.clock.now(), maxDays: this.settings.tokenMaxLifetimeDays, defaultDays });
  }
}
