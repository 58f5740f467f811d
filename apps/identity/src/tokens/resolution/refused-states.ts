import type { UserState } from '../../users/user.entity';

/** Reasons for refusing the tokens of users in these states. Source: reference identity-and-import 4.1. */
export const REFUSED_STATES: Readonly<Record<Exclude<UserState, 'active'>, string>> = {
  blocked: 'Your account has been blocked',
  deactivated: 'Your account has been deactivated',
  banned: 'Your account has been banned',
  blocked_pending_approval: 'Your account is pending approval',
};

/**
 * Refusal for users whose primary address is not confirmed yet; they are active but cannot act.
 * Source: reference identity-and-import 4.1, 5.
 */
export const UNCONFIRMED =
  'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions.';
