import { Refused } from '@rookery/kernel';

const DAY_MS = 86_400_000;
export const ROTATED_LIFETIME_DAYS = 7;

/** Returns the calendar day (UTC) that is `days` after the instant, as YYYY-MM-DD. */
export function dayAfter(instant: Date, days: number): string {
  return new Date(instant.getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

/** Units: days from one calendar day to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

/**
 * Returns the day on which a new token expires, at 00:00 UTC. Today is accepted: such a token is expired at once.
 * Errors: Refused for a day in the past or beyond the maximum lifetime. Source: reference identity-and-import 4.5.
 */
export function chooseTokenExpiryDay(
  requested: string | null | undefined,
  rule: { readonly now: Date; readonly maxDays: number; readonly defaultDays: number },
): string {
  const today = dayAfter(rule.now, 0);
  const last = dayAfter(rule.now, rule.maxDays);
  if (requested === undefined || requested === null)
    return dayAfter(rule.now, Math.min(rule.defaultDays, rule.maxDays));
  if (requested < today) throw new Refused('Expiration date cannot be in the past');
  if (requested > last) throw new Refused(`Expiration date must be before ${dayAfter(rule.now, rule.maxDays + 1)}`);
  return requested;
}

export function isActive(token: { revoked: boolean; expiresOn: string | null }, now: Date): boolean {
  return !token.revoked && (token.expiresOn === null || token.expiresOn > dayAfter(now, 0));
}

/**
 * Units: days before expiry on which notices are sent; 0 = the token has expired. Source: reference identity-and-import
 * 4.5.
 */
const NOTICE_DAYS: readonly number[] = [60, 30, 7, 0];

/**
 * Returns the number of notices that are not due any more with so many days left. A short lifetime has only the later
 * ones.
 */
export function countPassedExpiryNotices(daysLeft: number): number {
  return NOTICE_DAYS.filter((day) => daysLeft <= day).length;
}
