import { bool, choice, instant, int, list, nullable, object, optional, text } from './schema';
import type { Infer } from './schema';

/**
 * The directory: identity's facts about users, groups, projects and memberships, published to every other service as a
 * log of full states. Source: reference reliability 4.2; docs/architecture.md 4.
 */
export const directoryUser = object({
  id: int,
  username: text,
  name: text,
  state: choice('active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval'),
  kind: choice('human', 'project_bot', 'service_account', 'placeholder', 'ghost'),
  admin: bool,
  external: bool,
  private_profile: bool,
  avatar_url: nullable(text),
  /** Null when the user shows no address. */
  public_email: nullable(text),
  /** Address for notifications: the confirmed primary address; null when there is none. Never shown by the API. */
  notification_email: nullable(text),
  /** The group or project that the bot of a token belongs to. Users who see that group or project see the bot. */
  bot_group_id: nullable(int),
  bot_project_id: nullable(int),
  created_at: instant,
});

/** Setting of a group for the first rule of new projects. Levels are those of the API, with 0 for no user. */
export const directoryBranchProtection = object({
  push_levels: list(int),
  merge_levels: list(int),
  allow_force_push: bool,
  /** Whether developers may push to an empty repository. */
  developer_can_initial_push: bool,
});
export type DirectoryBranchProtection = Infer<typeof directoryBranchProtection>;

export const directoryNamespace = object({
  id: int,
  kind: choice('group', 'user'),
  /** The user of a user namespace. */
  owner_id: nullable(int),
  parent_id: nullable(int),
  /** Ids from the root down to this one, itself included. */
  traversal_ids: list(int),
  name: text,
  path: text,
  full_name: text,
  full_path: text,
  visibility: choice('private', 'internal', 'public'),
  avatar_url: nullable(text),
  emails_enabled: bool,
  /** Whether mentions of the group do not notify its members; null: not set. */
  mentions_disabled: nullable(bool),
  plan: choice('free', 'premium', 'ultimate'),
  /** Whether its contents take no writes: it or a group above is marked for deletion. Null in a former release: they do. */
  archived: nullable(bool),
  /** Protection of the default branches of new projects; null: not set, the nearest group above decides. */
  default_branch_protection: nullable(directoryBranchProtection),
  created_at: instant,
});

/** Settings of a project for merges and pipelines. A missing one was never set and has its default. */
export const directoryMergeSettings = object({
  merge_method: optional(choice('merge', 'rebase_merge', 'ff')),
  squash_option: optional(choice('never', 'always', 'default_on', 'default_off')),
  only_allow_merge_if_pipeline_succeeds: optional(bool),
  allow_merge_on_skipped_pipeline: optional(bool),
  only_allow_merge_if_all_discussions_are_resolved: optional(bool),
  remove_source_branch_after_merge: optional(bool),
  merge_commit_template: optional(text),
  squash_commit_template: optional(text),
  suggestion_commit_message: optional(text),
  resolve_outdated_diff_discussions: optional(bool),
  printing_merge_request_link_enabled: optional(bool),
  autoclose_referenced_issues: optional(bool),
  ci_config_path: optional(text),
  builds_access_level: optional(choice('disabled', 'private', 'enabled')),
});
export type DirectoryMergeSettings = Infer<typeof directoryMergeSettings>;

/** Origin of a fork. */
export const directoryFork = object({
  /** The project that was forked; null if it was deleted. */
  project_id: nullable(int),
  /** The first project of the network: forks of one origin, and their forks. It may be deleted. */
  network_id: int,
  /** The only branch that was copied; null for all. */
  branch: nullable(text),
});
export type DirectoryFork = Infer<typeof directoryFork>;

/** Other projects whose jobs may use a project with their tokens. */
export const directoryJobAdmission = object({
  /** Whether jobs of all projects may. */
  all: bool,
  /** Ids of projects. */
  projects: list(int),
  /** Ids of groups; their subgroups are included. */
  groups: list(int),
});
export type DirectoryJobAdmission = Infer<typeof directoryJobAdmission>;

export const directoryProject = object({
  id: int,
  namespace_id: int,
  creator_id: nullable(int),
  name: text,
  path: text,
  description: nullable(text),
  visibility: choice('private', 'internal', 'public'),
  archived: bool,
  issues_access_level: choice('disabled', 'private', 'enabled'),
  snippets_access_level: choice('disabled', 'private', 'enabled'),
  merge_requests_access_level: choice('disabled', 'private', 'enabled'),
  /** Null in these two: not set, which means `enabled`. */
  repository_access_level: nullable(choice('disabled', 'private', 'enabled')),
  feature_flags_access_level: nullable(choice('disabled', 'private', 'enabled')),
  /** Null: the project has set none. */
  merge_settings: nullable(directoryMergeSettings),
  /** Null: the project is not a fork. */
  fork: nullable(directoryFork),
  /** Null: jobs of no other project may use this one. */
  job_admission: nullable(directoryJobAdmission),
  /** Whether the repository begins with a README. Null in states of earlier releases: it does not. */
  initialize_with_readme: nullable(bool),
  packages_enabled: bool,
  emails_enabled: bool,
  default_branch: nullable(text),
  avatar_url: nullable(text),
  created_at: instant,
});

/** A direct membership. `expires_on` is a calendar day; the membership counts while today (UTC) is before it. */
export const directoryMembership = object({
  id: int,
  user_id: int,
  source_type: choice('namespace', 'project'),
  source_id: int,
  access_level: int,
  expires_on: nullable(text),
});

/** A group invited to a group (`source_type` namespace) or to a project. `access_level` caps the members' level there. */
export const directoryShare = object({
  id: int,
  source_type: choice('namespace', 'project'),
  source_id: int,
  group_id: int,
  access_level: int,
  expires_on: nullable(text),
});

export const DIRECTORY_KINDS = {
  user: directoryUser,
  namespace: directoryNamespace,
  project: directoryProject,
  membership: directoryMembership,
  share: directoryShare,
} as const;
export type DirectoryKind = keyof typeof DIRECTORY_KINDS;
export type DirectoryUser = Infer<typeof directoryUser>;
export type DirectoryNamespace = Infer<typeof directoryNamespace>;
export type DirectoryProject = Infer<typeof directoryProject>;
export type DirectoryMembership = Infer<typeof directoryMembership>;
export type DirectoryShare = Infer<typeof directoryShare>;

/**
 * One entry of the change log. Entries of one transaction share a version; a null state is a tombstone. Kind `token` is
 * for gateways only: the id of an access token whose state changed, always without a state.
 */
export interface DirectoryChange {
  readonly version: number;
  readonly kind: DirectoryKind | 'token';
  readonly id: number;
  readonly state: Record<string, unknown> | null;
}

/** The changes after a version. A version is never split over two answers. */
export interface DirectoryChanges {
  readonly epoch: string;
  /** Id of the identity process that answers; each process has its own within an epoch. Absent in answers of a former release. */
  readonly life?: string;
  /** Newest version at the time of the answer. */
  readonly head: number;
  /** The version that the copy has reached once `changes` are applied. */
  readonly upTo: number;
  /**
   * Superseded entries up to this version may be missing from the log: a reader that began before it has a consistent
   * copy again only from this version on. Source: ADR 0041.
   */
  readonly compactedTo: number;
  readonly changes: readonly DirectoryChange[];
}
