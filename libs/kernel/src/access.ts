/** Roles as numbers, as the API carries them. Source: requirements 3 §4; reference identity-and-import 1.5. */
export const ACCESS_LEVELS = {
  none: 0,
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const;
export type Role = keyof typeof ACCESS_LEVELS;
export type AccessLevel = (typeof ACCESS_LEVELS)[Role];

/** Levels a member, a share or a token may be given. */
export const GRANTABLE_LEVELS: readonly number[] = [10, 15, 20, 30, 40, 50];

export const VISIBILITIES = ['private', 'internal', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];
/** Of a top-level namespace, for all below it. */
export const PLANS = ['free', 'premium', 'ultimate'] as const;
/** What may have become of an account. */
export const USER_STATES = ['active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval'] as const;
/** private 0, internal 10, public 20: comparable. */
export const VISIBILITY_LEVELS: Readonly<Record<Visibility, number>> = { private: 0, internal: 10, public: 20 };

/**
 * Who asks, as the gateway's signed context says. `userId` is null for an anonymous caller.
 * `directory` is the version of identity's change log that every decision for this request must have seen.
 * `isAdmin` already counts `sudo`: acting for somebody else, the rights are that person's.
 */
export interface Viewer {
  readonly userId: number | null;
  readonly username: string | null;
  readonly isAdmin: boolean;
  readonly isExternal: boolean;
  readonly isBot: boolean;
  readonly tokenId: number | null;
  readonly scopes: readonly string[];
  /** The administrator behind a `sudo` or an impersonation token, for the audit log. */
  readonly impersonatorId: number | null;
  /** Somebody acts as this person by `sudo`. */
  readonly isBySudo: boolean;
  /** Of a bot: the person who made it, with whom it shares what is shared out by caller. */
  readonly makerId: number | null;
  /** The client address of somebody without a token. */
  readonly address: string | null;
  /** Their token is gone: they may hear an answer of theirs again, and nothing else. */
  readonly isForReplay?: true;
  readonly directory: { readonly version: number; readonly epoch: string };
  readonly requestId: string;
  /** Epoch milliseconds after which nobody waits for the answer. */
  readonly deadline: number;
}

/** A viewer known to be signed in. */
export interface SignedInViewer extends Viewer {
  readonly userId: number;
  readonly username: string;
}

export function isSignedIn(viewer: Viewer): viewer is SignedInViewer {
  return viewer.userId !== null;
}

/**
 * May this viewer know that a thing of this visibility exists, given the level they hold there?
 * Administrators read everything; internal is for signed-in people who are not external.
 */
export function maySee(viewer: Viewer, visibility: Visibility, level: number): boolean {
  if (viewer.isAdmin || level >= ACCESS_LEVELS.guest || visibility === 'public') return true;
  return visibility === 'internal' && isSignedIn(viewer) && !viewer.isExternal;
}
