import type { DirectoryChanges } from './directory-log';
import type { ServiceName } from './event';

/**
 * Calls between our own processes. All are under `/internal/`, which the gateway never routes, and carry
 * `Authorization: Bearer <key of caller and callee>`.
 */
export const INTERNAL_PATHS = {
  resolveToken: '/internal/tokens/resolve',
  directoryChanges: '/internal/directory/changes',
  directoryHead: '/internal/directory/head',
  decide: '/internal/directory/decide',
  resolveSudo: '/internal/users/resolve-sudo',
  confirmCaller: '/internal/callers/confirm',
  repositoryFacts: '/internal/repositories/facts',
  accountMails: '/internal/account-mails',
  instance: '/internal/instance',
} as const;

/** How long the caller still waits for its answer. Shape: whole milliseconds; without it nothing is known. */
export const INTERNAL_WAIT_HEADER = 'x-rookery-wait-ms';

/** Services that keep a copy of the directory. */
export const DIRECTORY_COPIES = ['collaboration', 'import', 'package', 'admin'] as const;
const COPIES = DIRECTORY_COPIES;
/** Services that keep a copy of what administrators set. */
const INSTANCE_COPIES = ['identity', 'collaboration', 'package'] as const;

/** Who may ask what; everybody else is refused, whatever keys they have. Source: ADR 0170. */
export const INTERNAL_CALLERS = {
  resolveToken: ['gateway'],
  resolveSudo: ['gateway'],
  directoryChanges: ['gateway', ...COPIES],
  directoryHead: COPIES,
  decide: COPIES,
  confirmCaller: COPIES,
  accountMails: ['collaboration'],
  repositoryFacts: ['identity'],
  instance: INSTANCE_COPIES,
} as const satisfies Record<keyof typeof INTERNAL_PATHS, readonly ('gateway' | ServiceName)[]>;

/** POST resolveToken. `digest` is the hex SHA-256 of the presented token; null asks for the anonymous head only. */
export interface ResolveTokenRequest {
  readonly digest: string | null;
  /** Client address without port, for the usage record. */
  readonly ip: string | null;
  /**
   * The request is for a rotation endpoint: a revoked token presented there takes the rest of its family with it.
   * Source: reference identity-and-import 4.8.
   */
  readonly rotating?: boolean;
  /** That of a request for a rotation endpoint: whoever lost the answer to their rotation may ask for it again. */
  readonly idempotency_key?: string;
}

export interface TokenHolder {
  readonly user_id: number;
  readonly username: string;
  readonly admin: boolean;
  readonly external: boolean;
  readonly bot: boolean;
  readonly token_id: number;
  readonly scopes: readonly string[];
  /** Set for an impersonation token: its creator. */
  readonly impersonator_id: number | null;
  /** The administrator with whom it ends: the impersonator, or who gave it out. Absent in answers of a former release. */
  readonly given_by_id?: number | null;
  /** Of a bot: the person who made it, or the maker of its maker. Absent in answers of a former release. */
  readonly maker_id?: number | null;
  /** Epoch milliseconds at which the token dies by itself; null when it does not. */
  readonly expires_at: number | null;
}

export type ResolveTokenAnswer = { readonly version: number; readonly epoch: string } & (
  | { readonly outcome: 'anonymous' | 'unknown' | 'expired' | 'revoked' | 'impersonation_disabled' }
  | { readonly outcome: 'user_refused'; readonly reason: string }
  | {
      readonly outcome: 'valid';
      readonly holder: TokenHolder;
      /** The token is gone, by a rotation with this very key: nothing but the answer to that may be told. */
      readonly replays_only?: true;
    }
);

/** POST resolveSudo `{ ref }`: a user by id or, ignoring case, by username. */
export interface ResolveSudoAnswer {
  readonly user: {
    id: number;
    username: string;
    admin: boolean;
    external: boolean;
    bot: boolean;
    state: string;
  } | null;
}

/** What is said to administrators who may not act as somebody. Source: reference identity-and-import 1.4. */
export const SUDO_REASONS = {
  notAdmin: 'Must be admin to use sudo',
  blocked: 'Your account has been blocked',
  banned: 'Your account has been blocked',
  deactivated: 'Your account has been deactivated by your administrator',
  blocked_pending_approval: 'Your account is pending approval from your administrator',
  unconfirmed: 'Your primary email address is not confirmed',
} as const;

/**
 * POST confirmCaller: whether what a signed context told of its caller still holds, for requests that had to wait. Shape:
 * fields as in ContextClaims.
 */
export interface ConfirmCallerRequest {
  readonly user_id: number;
  readonly token_id: number;
  readonly admin: boolean;
  readonly external: boolean;
  readonly bot: boolean;
  readonly scopes: readonly string[];
  /** The administrator behind sudo or an impersonation token. */
  readonly impersonator_id: number | null;
  /** At rotation endpoints (`isRotation`), within identity only. */
  readonly rotating?: true;
  readonly idempotency_key?: string;
}

/**
 * Whether a revoked token that is presented ends its family, so that identity must see it.
 * Shape: `template` as the routes have it. Source: reference identity-and-import 4.8.
 */
export function isRotation(method: string, template: string): boolean {
  return method === 'POST' && template.endsWith('/rotate');
}

/** Shape: `changed` when the token gives other rights, `unknown` when it, or whom it acts as, is gone. */
export type ConfirmCallerAnswer = { readonly version: number; readonly epoch: string } & (
  | { readonly outcome: 'holds' | 'changed' | 'unknown' | 'expired' | 'revoked' | 'impersonation_disabled' }
  | { readonly outcome: 'user_refused'; readonly reason: string }
);

/**
 * GET directoryChanges?after=&epoch=&wait_ms=&limit=, and from copies `reader` (the service), `life` (of the answer that
 * brought the copy to `after`) and `seen`: the highest id of each kind that the copy ever held, as JSON.
 */
export type DirectoryChangesAnswer = DirectoryChanges;

/** GET directoryHead: where the log stands when the question comes. */
export interface DirectoryHeadAnswer {
  readonly version: number;
  readonly epoch: string;
}

/** POST decide: a service whose copy lags asks identity instead. References are ids or full paths. */
export interface DecideRequest {
  readonly viewer_id: number | null;
  readonly project?: number | string;
  readonly group?: number | string;
}

/** The states that the copy would hold, and the viewer's level there; null when there is no such thing. */
export interface DecideAnswer {
  readonly version: number;
  readonly epoch: string;
  readonly project: Record<string, unknown> | null;
  readonly namespace: Record<string, unknown> | null;
  readonly access_level: number;
}

/** What an e-mail about an account tells. */
export const ACCOUNT_MAIL_TEMPLATES = ['email_confirmation', 'token_expires', 'token_rotated'] as const;
export type AccountMailTemplate = (typeof ACCOUNT_MAIL_TEMPLATES)[number];

/** Bounds: how many e-mails one call may ask for. */
export const ACCOUNT_MAILS_MOST = 500;

/** POST accountMails `{ mails }`: asked when an e-mail is about to be sent, so that no address waits in a queue. */
export interface AccountMailQuestion {
  readonly template: AccountMailTemplate;
  readonly recipient_id: number;
  /** Id of the address to confirm, or of the access token. */
  readonly subject_id: number;
}

export interface AccountMailFacts {
  readonly address: string;
  /** Of the person; a text that people wrote. */
  readonly name: string;
  /** Where to confirm; only for `email_confirmation`. */
  readonly link: string | null;
  /** Of the access token; the name is a text that people wrote. Shape: `expires_on` YYYY-MM-DD. */
  readonly token: {
    readonly name: string;
    readonly expires_on: string | null;
    /** Whose it is when not the reader's own; left out by older releases. Shape: `path` from the root, or a username. */
    readonly of?: { readonly kind: 'group' | 'project' | 'service account'; readonly path: string } | null;
  } | null;
}

/** Shape: one answer for each question, in order; null = there is nothing to tell them any more. */
export interface AccountMailsAnswer {
  readonly mails: readonly (AccountMailFacts | null)[];
}

/** POST repositoryFacts, of collaboration. Bounds: at most 100 projects. */
export interface RepositoryFactsRequest {
  readonly project_ids: readonly number[];
}

/** What is known of a project's repository; null where there is nothing to know. */
export interface RepositoryFacts {
  readonly project_id: number;
  readonly default_branch: string | null;
  /** Last commit of the default branch. */
  readonly commit_sha: string | null;
  /** The tag that was updated last. */
  readonly latest_tag: string | null;
}

/** Projects that collaboration does not know are left out. */
export interface RepositoryFactsAnswer {
  readonly projects: readonly RepositoryFacts[];
}

/**
 * What says for whom a feature is on. Source: reference packages-and-admin 10.1.
 * Units: percentages from 0 to 100. Shape: actors as `Project:7`.
 */
export interface FeatureGates {
  readonly boolean: boolean;
  readonly percentage_of_time: number;
  readonly percentage_of_actors: number;
  readonly actors: readonly string[];
  readonly groups: readonly string[];
}

/**
 * GET instance?after=&wait_ms=, of admin: what administrators set for the whole instance, always all of it. The answer
 * waits while the version is `after`. Source: ADR 0180.
 */
export interface InstanceAnswer {
  readonly version: number;
  /** Of the features that somebody set, by name. */
  readonly features: Readonly<Record<string, FeatureGates>>;
  /** Of the settings that somebody changed, by name: as the API takes them. */
  readonly settings: Readonly<Record<string, unknown>>;
}
