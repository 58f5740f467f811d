import type { GroupScope, NamespaceFacts, ProjectScope } from '@rookery/api-v4';
import { DIRECTORY_KINDS } from '@rookery/contracts';
import type { DirectoryMergeSettings, DirectoryNamespace, DirectoryProject, DirectoryUser } from '@rookery/contracts';
import { instantSql } from '@rookery/persistence';

/** A user in the directory. `notificationEmail` is for the mailer and never shown by the API. */
export interface DirectoryUserRow {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly state: DirectoryUser['state'];
  readonly kind: DirectoryUser['kind'];
  readonly admin: boolean;
  readonly external: boolean;
  readonly privateProfile: boolean;
  /** Absolute, or a path of this instance that begins with a slash. */
  readonly avatarUrl: string | null;
  readonly publicEmail: string | null;
  readonly notificationEmail: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
}

/** Kinds of accounts that stand for deleted users and for users of another instance. No caller acts as them. */
const PLACEHOLDER_KINDS: readonly DirectoryUser['kind'][] = ['ghost', 'placeholder'];

/** Whether an account belongs to no user. It cannot be assigned or mentioned. */
export function isPlaceholderAccount({ kind }: Pick<DirectoryUser, 'kind'>): boolean {
  return PLACEHOLDER_KINDS.includes(kind);
}

/** Boolean SQL: whether an account belongs to no user. `user` is the alias of directory_users. */
export function isPlaceholderAccountSql(user: string): string {
  return `${user}.kind in (${PLACEHOLDER_KINDS.map((kind) => `'${kind}'`).join(', ')})`;
}

/** A project without the viewer's access level. */
export type ProjectFacts = Omit<ProjectScope, 'level'>;

/** A row with the columns of `directoryColumnsSql(kind, alias, prefix)`: keys are prefixed contract fields. */
export type FlatRow = Readonly<Record<string, unknown>>;

/** One object for all projects without settings for merges. */
const NONE_SET: DirectoryMergeSettings = Object.freeze({});

/** Fields that only special statements select. */
const UNSELECTED: Readonly<Record<'user' | 'namespace' | 'project', readonly string[]>> = {
  user: ['bot_group_id', 'bot_project_id'],
  namespace: ['created_at', 'default_branch_protection', 'mentions_disabled'],
  project: [],
};

/** Select list of a kind's contract fields, instants as ISO text. Each column is named `<prefix><field>`. */
export function directoryColumnsSql(kind: 'user' | 'namespace' | 'project', alias: string, prefix: string): string {
  return Object.entries(DIRECTORY_KINDS[kind].fields)
    .filter(([field]) => !UNSELECTED[kind].includes(field))
    .map(([field, schema]) => {
      const column = `${alias}.${field}`;
      return `${schema.kind === 'instant' ? instantSql(column) : column} as ${prefix}${field}`;
    })
    .join(', ');
}

/** Builds the same row from a state that identity sent. */
export function toFlatDirectoryRow(prefix: string, state: FlatRow): FlatRow {
  return Object.fromEntries(
    Object.entries(state).map(([field, value]) => [
      prefix + field,
      field === 'created_at' ? new Date(value as string).toISOString() : value,
    ]),
  );
}

export function toDirectoryUser(row: FlatRow, prefix = ''): DirectoryUserRow {
  const at = <F extends keyof DirectoryUser>(field: F): DirectoryUser[F] => row[prefix + field] as DirectoryUser[F];
  return {
    id: at('id'),
    username: at('username'),
    name: at('name'),
    state: at('state'),
    kind: at('kind'),
    admin: at('admin'),
    external: at('external'),
    privateProfile: at('private_profile'),
    avatarUrl: at('avatar_url'),
    publicEmail: at('public_email'),
    notificationEmail: at('notification_email'),
    createdAt: at('created_at'),
  };
}

export function namespaceOfRow(row: FlatRow, prefix = 'n_'): NamespaceFacts {
  const at = <F extends keyof DirectoryNamespace>(field: F): DirectoryNamespace[F] =>
    row[prefix + field] as DirectoryNamespace[F];
  return {
    id: at('id'),
    kind: at('kind'),
    ownerId: at('owner_id'),
    parentId: at('parent_id'),
    traversalIds: at('traversal_ids').map(Number),
    name: at('name'),
    path: at('path'),
    fullName: at('full_name'),
    fullPath: at('full_path'),
    visibility: at('visibility'),
    avatarUrl: at('avatar_url'),
    emailsEnabled: at('emails_enabled'),
    plan: at('plan'),
    archived: at('archived') ?? false,
  };
}

export function projectOfRow(row: FlatRow): ProjectFacts {
  const at = <F extends keyof DirectoryProject>(field: F): DirectoryProject[F] =>
    row[`p_${field}`] as DirectoryProject[F];
  const namespace = namespaceOfRow(row);
  return {
    kind: 'project',
    id: at('id'),
    name: at('name'),
    path: at('path'),
    fullPath: `${namespace.fullPath}/${at('path')}`,
    nameWithNamespace: `${namespace.fullName} / ${at('name')}`,
    description: at('description'),
    visibility: at('visibility'),
    archived: at('archived'),
    issuesAccessLevel: at('issues_access_level'),
    snippetsAccessLevel: at('snippets_access_level'),
    mergeRequestsAccessLevel: at('merge_requests_access_level'),
    repositoryAccessLevel: at('repository_access_level') ?? 'enabled',
    featureFlagsAccessLevel: at('feature_flags_access_level') ?? 'enabled',
    mergeSettings: at('merge_settings') ?? NONE_SET,
    fork: at('fork') ?? null,
    jobAdmission: at('job_admission') ?? null,
    initializeWithReadme: at('initialize_with_readme') ?? false,
    packagesEnabled: at('packages_enabled'),
    emailsEnabled: at('emails_enabled'),
    creatorId: at('creator_id'),
    createdAt: at('created_at'),
    defaultBranch: at('default_branch'),
    avatarUrl: at('avatar_url'),
    namespace,
  };
}

/** Returns the project in the row of a decision; null for none. */
export function toProject(row: FlatRow): ProjectScope | null {
  return typeof row['p_id'] === 'number' ? { ...projectOfRow(row), level: row['level'] as number } : null;
}

/** Returns the group in the row of a decision; null for none, or for a user namespace. */
export function toGroup(row: FlatRow): GroupScope | null {
  if (typeof row['n_id'] !== 'number' || row['n_kind'] !== 'group') return null;
  return { ...namespaceOfRow(row), kind: 'group', level: row['level'] as number };
}
