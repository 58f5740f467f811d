import type { DirectoryChanges } from './directory-log';
import type { ServiceName } from './event';

/**
 * Paths of calls between our own processes. All are under `/internal/`, which the gateway never routes, and carry
 * `Authorization: Bearer <key of caller and callee>`.
 */
export const INTERNAL_PATHS = {
  resolveToken: '/internal/tokens/resolve',
  directoryChanges: '/internal/directory/changes',
  directoryHead: '/internal/directory/head',
  decide: '/internal/directory/decide',
  formerProject: '/internal/directory/former-project',
  resolveSudo: '/internal/users/resolve-sudo',
  startWebSession: '/internal/web-sessions/start',
  checkWebSession: '/internal/web-sessions/check',
  listWebSessions: '/internal/web-sessions/list',
  endWebSession: '/internal/web-sessions/end',
  confirmCaller: '/internal/callers/confirm',
  repositoryFacts: '/internal/repositories/facts',
  resolveRef: '/internal/repositories/resolve-ref',
  sourceFile: '/internal/repositories/source-file',
  sourceCommit: '/internal/repositories/source-commit',
  sourceTags: '/internal/repositories/source-tags',
  sourceModule: '/internal/repositories/source-module',
  sourceArchive: '/internal/repositories/source-archive',
  pushedPipelines: '/internal/repositories/pushed-pipelines',
  pushVariablesStored: '/internal/repositories/push-variables-stored',
  mergeRequestHead: '/internal/merge-requests/head',
  accountMails: '/internal/account-mails',
  notificationEmail: '/internal/notification-emails',
  instance: '/internal/instance',
  runningJob: '/internal/jobs/running',
  importTarget: '/internal/imports/target',
  importProject: '/internal/imports/project',
  importState: '/internal/imports/state',
  importByUrl: '/internal/imports/by-url',
  importRefused: '/internal/imports/by-url/refused',
  importPeople: '/internal/imports/people',
  importObjects: '/internal/imports/objects',
  importAttachments: '/internal/imports/attachments',
  importAttachment: '/internal/imports/attachments/content',
  importSnippet: '/internal/imports/snippet',
  importLeftOut: '/internal/imports/snippets/left-out',
  importRefs: '/internal/repositories/:project_id/info/refs',
  importPush: '/internal/repositories/:project_id/git-receive-pack',
} as const;

/** Maximum time that the caller will still wait for the answer, in whole milliseconds. Unknown if absent. */
export const INTERNAL_WAIT_HEADER = 'x-rookery-wait-ms';

/** Services that keep a copy of the directory. */
export const DIRECTORY_COPIES = ['collaboration', 'import', 'package', 'admin'] as const;
const COPIES = DIRECTORY_COPIES;
/** Services that keep a copy of the instance settings. */
const INSTANCE_COPIES = ['identity', 'collaboration', 'package'] as const;

/** Allowed callers of each internal path; every other caller is refused, whatever keys it has. Source: ADR 0170. */
export const INTERNAL_CALLERS = {
  resolveToken: ['gateway'],
  resolveSudo: ['gateway'],
  startWebSession: ['gateway'],
  checkWebSession: ['gateway'],
  listWebSessions: ['gateway'],
  endWebSession: ['gateway'],
  directoryChanges: ['gateway', ...COPIES],
  directoryHead: COPIES,
  decide: COPIES,
  formerProject: COPIES,
  confirmCaller: COPIES,
  accountMails: ['collaboration'],
  notificationEmail: ['collaboration'],
  repositoryFacts: ['identity'],
  resolveRef: ['package'],
  sourceFile: ['package'],
  sourceCommit: ['package'],
  sourceTags: ['package'],
  sourceModule: ['package'],
  sourceArchive: ['package'],
  pushedPipelines: ['package'],
  pushVariablesStored: ['package'],
  mergeRequestHead: ['package'],
  instance: INSTANCE_COPIES,
  runningJob: ['identity'],
  importTarget: ['import'],
  importProject: ['import'],
  importState: ['import'],
  importByUrl: ['identity'],
  importRefused: ['identity'],
  importPeople: ['import'],
  importObjects: ['import'],
  importAttachments: ['import'],
  importAttachment: ['import'],
  importSnippet: ['import'],
  importLeftOut: ['import'],
  importRefs: ['import'],
  importPush: ['import'],
} as const satisfies Record<keyof typeof INTERNAL_PATHS, readonly ('gateway' | ServiceName)[]>;

/** POST resolveToken. `digest` is the hex SHA-256 of the presented token; null asks for the directory version only. */
export interface ResolveTokenRequest {
  readonly digest: string | null;
  /** Client address without port, for the record of the token's use. */
  readonly ip: string | null;
  /**
   * The request is for a rotation endpoint: a revoked token presented there revokes the rest of its family too.
   * Source: reference identity-and-import 4.8.
   */
  readonly rotating?: boolean;
  /** The key of a request for a rotation endpoint: a caller who lost the answer to a rotation may fetch it again. */
  readonly idempotency_key?: string;
  /** The token belongs to a job: identity asks package, which knows the jobs. Source: ADR 0190. */
  readonly job?: true;
}

/** The running job whose token a caller presents. */
export interface JobOfToken {
  readonly id: number;
  /** The only project in which the token works. */
  readonly project_id: number;
}

export interface TokenHolder {
  readonly user_id: number;
  readonly username: string;
  readonly admin: boolean;
  readonly external: boolean;
  readonly bot: boolean;
  /** Null for the token of a job. */
  readonly token_id: number | null;
  /** Set for the token of a job. */
  readonly job?: JobOfToken;
  readonly scopes: readonly string[];
  /** Set for an impersonation token: its creator. */
  readonly impersonator_id: number | null;
  /** The administrator whose loss of rights ends this token: the impersonator, or the issuer. Absent in answers of a former release. */
  readonly given_by_id?: number | null;
  /** Id of the user who created a bot, or of the creator of its creator. Absent in answers of a former release. */
  readonly maker_id?: number | null;
  /** Epoch milliseconds at which the token expires; null when it does not. */
  readonly expires_at: number | null;
}

export type ResolveTokenAnswer = { readonly version: number; readonly epoch: string } & (
  | { readonly outcome: 'anonymous' | 'unknown' | 'expired' | 'revoked' | 'impersonation_disabled' }
  | { readonly outcome: 'user_refused'; readonly reason: string }
  | {
      readonly outcome: 'valid';
      readonly holder: TokenHolder;
      /** The token was rotated by a request with this very key: only the answer to that request may be returned. */
      readonly replays_only?: true;
    }
);

/** Lifetime of the session of a browser. Units: days. Source: reference pages 2. */
export const WEB_SESSION_DAYS = 14;

/** POST startWebSession. `id` is a new UUID, so that a repeated request starts no second session; `digest` is the hex SHA-256 of the token with which a person signs in on the web pages. */
export interface StartWebSessionRequest {
  readonly id: string;
  readonly digest: string;
  /** Client address without port. */
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** `is_started` is false if the token is unknown or revoked. */
export interface StartWebSessionAnswer {
  readonly is_started: boolean;
}

/** POST checkWebSession `{ id, ip }`: whether the session goes on. Its token is not checked. */
export interface CheckWebSessionAnswer {
  readonly is_live: boolean;
}

/**
 * POST listWebSessions `{ id }`: the sessions of the user of that session. `sessions` is null if its token has neither
 * the scope `api` nor `read_api`.
 */
export interface ListWebSessionsAnswer {
  readonly sessions: readonly ListedWebSession[] | null;
}

/**
 * POST endWebSession `{ id, ended_id }`: ends a session of the user of the session `id`. The request may end another
 * session only if the token of `id` has the scope `api`.
 */
export interface EndWebSessionAnswer {
  readonly is_permitted: boolean;
}

/** A session as its user sees it. */
export interface ListedWebSession {
  readonly id: string;
  readonly token_name: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
  /** Whether it is the session that asks. */
  readonly is_current: boolean;
}

/** POST formerProject `{ full_path }`: the project that had this full path before a move or a change of its path. */
export interface FormerProjectAnswer {
  readonly project_id: number | null;
}

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

/** Reasons for refusing `sudo`, as administrators read them. Source: reference identity-and-import 1.4. */
export const SUDO_REASONS = {
  notAdmin: 'Must be admin to use sudo',
  blocked: 'Your account has been blocked',
  banned: 'Your account has been blocked',
  deactivated: 'Your account has been deactivated by your administrator',
  blocked_pending_approval: 'Your account is pending approval from your administrator',
  unconfirmed: 'Your primary email address is not confirmed',
} as const;

/**
 * POST confirmCaller: checks whether the claims of a signed context still hold, for requests that had to wait. The
 * fields have the meanings of those in ContextClaims.
 */
export interface ConfirmCallerRequest {
  readonly user_id: number;
  /** Set for the token of a job, whose `token_id` is 0. */
  readonly job_id?: number;
  readonly token_id: number;
  readonly admin: boolean;
  readonly external: boolean;
  readonly bot: boolean;
  readonly scopes: readonly string[];
  /** The administrator behind `sudo` or an impersonation token. */
  readonly impersonator_id: number | null;
  /** At rotation endpoints (`isTokenRotationRoute`), within identity only. */
  readonly rotating?: true;
  readonly idempotency_key?: string;
}

/**
 * Whether a revoked token on this route revokes its whole family, so that identity must see the request. `template` is
 * the path template of the route.
 * Source: reference identity-and-import 4.8.
 */
export function isTokenRotationRoute(method: string, template: string): boolean {
  return method === 'POST' && template.endsWith('/rotate');
}

/**
 * `changed` means that the token grants other rights now. `unknown` means that the token or its user no longer exists.
 */
export type ConfirmCallerAnswer = { readonly version: number; readonly epoch: string } & (
  | { readonly outcome: 'holds' | 'changed' | 'unknown' | 'expired' | 'revoked' | 'impersonation_disabled' }
  | { readonly outcome: 'user_refused'; readonly reason: string }
);

/**
 * GET directoryChanges?after=&epoch=&wait_ms=&limit=, and from copies also `reader` (the service), `life` (of the answer
 * that brought the copy to `after`) and `seen`: the highest id of each kind that the copy ever held, as JSON.
 */
export type DirectoryChangesAnswer = DirectoryChanges;

/** GET directoryHead: the newest version of the log at the time of the request. */
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

/** The states that an up-to-date copy would hold, and the viewer's level there; null when there is no such resource. */
export interface DecideAnswer {
  readonly version: number;
  readonly epoch: string;
  readonly project: Record<string, unknown> | null;
  readonly namespace: Record<string, unknown> | null;
  readonly access_level: number;
}

/** Templates of e-mails about an account. */
export const ACCOUNT_MAIL_TEMPLATES = [
  'email_confirmation',
  'email_added',
  'token_created',
  'token_expires',
  'token_rotated',
  'dependency_list_exported',
  'gists_left_out',
] as const;
export type AccountMailTemplate = (typeof ACCOUNT_MAIL_TEMPLATES)[number];

/** Bounds: the most e-mails that one call may ask for. */
export const MAX_ACCOUNT_MAILS = 500;

/** POST accountMails `{ mails }`: asked just before an e-mail is sent, so that no address is stored in a queue. */
export interface AccountMailRequest {
  readonly template: AccountMailTemplate;
  readonly recipient_id: number;
  /** Id of the address to confirm or that was added, of the access token, of the export or of the import of gists. */
  readonly subject_id: number;
}

export interface AccountMailFacts {
  readonly address: string;
  /** Name of the recipient, which is user input. */
  readonly name: string;
  /** URL that confirms the address, or that of the exported file; null for others. */
  readonly link: string | null;
  /** Address that was added to the account; absent in older releases. */
  readonly added?: string;
  /** Facts of the access token. Its name is user input. `expires_on` has the form `YYYY-MM-DD`. */
  readonly token: {
    readonly name: string;
    readonly expires_on: string | null;
    /** Owner of the token if it is not the recipient; absent in older releases. `path` is a full path or a username. */
    readonly of?: { readonly kind: 'group' | 'project' | 'service account'; readonly path: string } | null;
  } | null;
}

/**
 * `mails` has one item for each question, in the same order. An e-mail whose item is null is obsolete and must not be
 * sent.
 */
export interface AccountMailsAnswer {
  readonly mails: readonly (AccountMailFacts | null)[];
}

/**
 * POST notificationEmail: chooses the address for a user's notifications. A null `email` only reads the chosen address.
 */
export interface NotificationEmailRequest {
  readonly user_id: number;
  readonly email: string | null;
}

/**
 * `email` is the address in use after the request. `outcome` is `not_verified` if the requested address is not a
 * confirmed address of the user.
 */
export interface NotificationEmailAnswer {
  readonly outcome: 'chosen' | 'not_verified';
  readonly email: string;
}

/** POST repositoryFacts, answered by collaboration. Bounds: at most 100 projects. */
export interface RepositoryFactsRequest {
  readonly project_ids: readonly number[];
}

/** Facts about a project's repository; null where there is no value. */
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

/** POST resolveRef, answered by collaboration. Finds a commit in the repository of a project. */
export interface ResolveRefRequest {
  readonly project_id: number;
  /** Branch, tag, full name of a ref, or full or abbreviated commit id; null for the default branch. */
  readonly name: string | null;
  /** Also returns the first branch that contains the commit. */
  readonly finds_branch?: true;
}

export interface ResolvedRef {
  /** Full id of the commit. */
  readonly sha: string;
  /** Short name of the branch or tag, full name of another ref; null if the commit was named by its id. */
  readonly ref: string | null;
  readonly is_tag: boolean;
  /** Time of the committer, in ISO 8601 and UTC. */
  readonly committed_at: string;
  /** First branch by name that contains the commit; null for none, or if it was not requested. */
  readonly branch: string | null;
}

/** `commit` is null if the project has no such commit. */
export interface ResolveRefAnswer {
  readonly commit: ResolvedRef | null;
}

/** POST pushedPipelines, answered by collaboration. Finds the refs of a push whose pipelines start. */
export interface PushedPipelinesRequest {
  readonly push_id: number;
}

/** A branch or tag of a push. */
export interface PushedRef {
  /** Full id of the commit. */
  readonly sha: string;
  /** Short name. */
  readonly ref: string;
  readonly is_tag: boolean;
  /** Time of the committer, in ISO 8601 and UTC. */
  readonly committed_at: string;
}

/** A variable of the pipelines of a push. `key` consists of letters, digits and `_`. */
export interface PushedVariable {
  readonly key: string;
  readonly value: string;
}

/**
 * No pipeline starts if `refs` is empty. The ids are null for an unknown push and for one that may not start pipelines.
 */
export interface PushedPipelines {
  readonly project_id: number | null;
  readonly user_id: number | null;
  readonly refs: readonly PushedRef[];
  readonly variables: readonly PushedVariable[];
  readonly inputs: Readonly<Record<string, string>>;
}

/** POST pushVariablesStored, answered by collaboration with `{}`. Deletes the variables of a push there. */
export interface PushVariablesStoredRequest {
  readonly push_id: number;
}

/** POST mergeRequestHead, answered by collaboration. Finds the commit on which a pipeline of a merge request runs. */
export interface MergeRequestHeadRequest {
  readonly project_id: number;
  readonly iid: number;
}

/** `head` is null if no pipeline can start: the merge request is not open, or has no commits or no source branch. */
export interface MergeRequestHeadAnswer {
  readonly is_found: boolean;
  readonly head: {
    /** Full id of the commit. */
    readonly sha: string;
    /** Time of the committer, in ISO 8601 and UTC. */
    readonly committed_at: string;
  } | null;
}

/**
 * Conditions under which a feature is on. Actors have the form `Project:7`.
 * Units: percentages from 0 to 100. Source: reference packages-and-admin 10.1.
 */
export interface FeatureGates {
  readonly boolean: boolean;
  readonly percentage_of_time: number;
  readonly percentage_of_actors: number;
  readonly actors: readonly string[];
  readonly groups: readonly string[];
}

/**
 * GET instance?after=&wait_ms=, answered by admin: the settings of the whole instance, always complete. The answer waits
 * while the version is `after`. Source: ADR 0180.
 */
export interface InstanceAnswer {
  readonly version: number;
  /** Features with a value, by name. */
  readonly features: Readonly<Record<string, FeatureGates>>;
  /** Changed settings by name, as the API takes them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Limits that administrators have set, by plan and name. Absent in answers of releases without it. */
  readonly plan_limits?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * POST runningJob, answered by package. The request has either the hex SHA-256 `digest` of a token, or the `id` of a
 * job.
 */
export interface RunningJobRequest {
  readonly digest?: string;
  readonly id?: number;
}

/** `job` is null unless the job runs now and its token has not expired. */
export interface RunningJobAnswer {
  readonly job: (JobOfToken & { readonly user_id: number }) | null;
}

/** States of an import, in order; the last three are final. Source: reference identity-and-import 6.1. */
export const IMPORT_STATES = ['scheduled', 'started', 'finished', 'failed', 'canceled'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

/**
 * Hosts that projects are imported from, as `import_type` names them; `git` is a repository by its URL. Source: reference
 * identity-and-import 0.
 */
export const IMPORT_TYPES = ['remote', 'git', 'repohost_server', 'repohost'] as const;
export type ImportType = (typeof IMPORT_TYPES)[number];

/** POST importTarget, answered by identity. `namespace` is the full path of a group or a username. */
export interface ImportTargetRequest {
  readonly user_id: number;
  readonly namespace: string;
  /** Kind of the host. Default: one whose imports need the role of a maintainer. */
  readonly import_type?: ImportType;
}

/** `outcome` is `missing` also for a group that the user may not see. */
export interface ImportTargetAnswer {
  readonly outcome: 'allowed' | 'forbidden' | 'missing';
}

/** POST importProject, answered by identity: creates the project of an import, once for each `import_key`. */
export interface ImportProjectRequest extends ImportTargetRequest {
  /** A random UUID that names the import. */
  readonly import_key: string;
  readonly import_type: ImportType;
  /** Address of the upstream repository, without credentials. */
  readonly import_url: string;
  readonly name: string;
  readonly description: string | null;
  readonly default_branch: string | null;
  readonly is_private: boolean;
}

export interface ImportedProject {
  readonly id: number;
  readonly name: string;
  readonly full_path: string;
  readonly name_with_namespace: string;
}

/** `problems` are complete sentences. */
export type ImportProjectAnswer =
  | { readonly outcome: 'created'; readonly project: ImportedProject }
  | { readonly outcome: 'forbidden' | 'missing' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** POST importState, answered by identity: the state of an import for the answers about its project. */
export interface ImportStateRequest {
  readonly import_key: string;
  readonly state: ImportState;
  /** Reason of a failure, without credentials. */
  readonly error: string | null;
}

/** `is_known` is false if no project has this import. */
export interface ImportStateAnswer {
  readonly is_known: boolean;
}

/**
 * POST importByUrl, answered by import: prepares the import of a repository by its URL. It starts when the event of the
 * project's creation has the key, and is forgotten if none has within minutes.
 */
export interface ImportByUrlRequest {
  /** A random UUID that names the import. */
  readonly import_key: string;
  readonly user_id: number;
  /** May hold a user name and a password. */
  readonly url: string;
}

/** `url` has no credentials; `problem` is the end of a sentence about the URL. */
export type ImportByUrlAnswer =
  | { readonly outcome: 'prepared'; readonly url: string }
  | { readonly outcome: 'refused'; readonly problem: string };

/** POST importRefused, answered by import: forgets a prepared import whose project was refused. */
export interface ImportRefusedRequest {
  readonly import_key: string;
}
export type ImportRefusedAnswer = Readonly<Record<string, never>>;
