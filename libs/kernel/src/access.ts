/** Access levels of roles, as the API writes them. Source: requirements 3 §4; reference identity-and-import 1.5. */
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

/** Access levels that a member, a share or a token can have. */
export const GRANTABLE_LEVELS: readonly number[] = [10, 15, 20, 30, 40, 50];

export const VISIBILITIES = ['private', 'internal', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];
/** Subscription plans of a top-level namespace. A plan applies to everything below that namespace. */
export const PLANS = ['free', 'premium', 'ultimate'] as const;
/** States of a user account. */
export const USER_STATES = ['active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval'] as const;
/** Visibilities as comparable numbers: private 0, internal 10, public 20. */
export const VISIBILITY_LEVELS: Readonly<Record<Visibility, number>> = { private: 0, internal: 10, public: 20 };

/**
 * The caller of a request, as the gateway's signed context describes it. `userId` is null for an anonymous caller.
 * `directory` is the version of identity's change log that every decision for this request must have seen.
 * `isAdmin` already accounts for `sudo`: the rights are those of the user whom the caller acts as.
 */
export interface Viewer {
  readonly userId: number | null;
  readonly username: string | null;
  readonly isAdmin: boolean;
  readonly isExternal: boolean;
  readonly isBot: boolean;
  readonly tokenId: number | null;
  /** The running job whose token the caller presents. It limits the caller to a project and to some routes. */
  readonly job?: { readonly id: number; readonly projectId: number };
  readonly scopes: readonly string[];
  /** The administrator behind a `sudo` or an impersonation token, for the audit log. */
  readonly impersonatorId: number | null;
  /** The caller acts as this user through `sudo`. */
  readonly isBySudo: boolean;
  /** Id of the user who created a bot; both share the limits that apply per caller. */
  readonly creatorId: number | null;
  /** The client address of a caller without a token. */
  readonly address: string | null;
  /** The token was revoked or rotated: the caller may only fetch a stored answer again (idempotent replay). */
  readonly isReplayOnly?: true;
  /** Token that the client of a registry may use in place of its credential. Set where clients ask for one. */
  readonly clientToken?: string;
  readonly directory: { readonly version: number; readonly epoch: string };
  readonly requestId: string;
  /** Epoch milliseconds after which the caller no longer waits for the answer. */
  readonly deadline: number;
}

/** A viewer that is signed in. */
export interface SignedInViewer extends Viewer {
  readonly userId: number;
  readonly username: string;
}

export function isSignedIn(viewer: Viewer): viewer is SignedInViewer {
  return viewer.userId !== null;
}

/**
 * Whether this viewer may know that a resource of this visibility exists, given their access level in it.
 * Administrators may read everything. Internal resources are for signed-in users who are not external.
 */
export function maySee(viewer: Viewer, visibility: Visibility, level: number): boolean {
  if (viewer.isAdmin || level >= ACCESS_LEVELS.guest || visibility === 'public') return true;
  return visibility === 'internal' && isSignedIn(viewer) && !viewer.isExternal;
}
