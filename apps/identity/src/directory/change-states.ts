import { DIRECTORY_KINDS, directoryMergeSettings } from '@rookery/contracts';
import type { DirectoryKind, Schema } from '@rookery/contracts';
import { instantSql, prepareStatement } from '@rookery/persistence';

/** Table of each kind; its columns are named like the contract's fields. */
export const TABLES: Readonly<Record<DirectoryKind, string>> = {
  user: 'users',
  namespace: 'namespaces',
  project: 'projects',
  membership: 'members',
  share: 'shares',
};

/** Maps fields that are not plain columns to SQL. The table has the alias `x`. */
const DERIVED: Readonly<Record<string, string>> = {
  'user.notification_email': 'case when x.confirmed_at is not null then coalesce(x.notification_email, x.email) end',
  'user.bot_group_id': botResourceIdSql('group'),
  'user.bot_project_id': botResourceIdSql('project'),
  'namespace.mentions_disabled': `(x.settings ->> 'mentions_disabled')::boolean`,
  'namespace.archived': isGroupReadOnlySql('x'),
  'namespace.default_branch_protection': groupBranchProtectionJsonSql('x'),
  'project.archived': isProjectReadOnlySql('x'),
  'project.repository_access_level': `x.settings ->> 'repository_access_level'`,
  'project.feature_flags_access_level': `x.settings ->> 'feature_flags_access_level'`,
  'project.merge_settings': projectMergeSettingsSql('x'),
  'project.fork': projectForkOriginSql('x'),
};

/**
 * SQL: whether a project takes no writes: it is archived, or it or a group above is marked for deletion. `alias` is
 * that of projects.
 */
export function isProjectReadOnlySql(alias: string): string {
  return `(${alias}.archived or ${alias}.marked_for_deletion_on is not null or exists (
    select 1 from namespaces home join namespaces above on above.id = any(home.traversal_ids)
    where home.id = ${alias}.namespace_id and above.marked_for_deletion_on is not null))`;
}

/** SQL: whether the contents of a group are read-only. `alias` is the alias of namespaces. */
export function isGroupReadOnlySql(alias: string): string {
  return `exists (select 1 from namespaces above
    where above.id = any(${alias}.traversal_ids) and above.marked_for_deletion_on is not null)`;
}

/**
 * SQL: the protection of default branches that a group has set, or null for none. `alias` is the alias of namespaces.
 */
function groupBranchProtectionJsonSql(alias: string): string {
  const set = `${alias}.settings -> 'default_branch_protection_defaults'`;
  const levels = (action: string): string => `jsonb_path_query_array(${set}, '$.allowed_to_${action}[*].access_level')`;
  const flag = (name: string): string => `coalesce((${set} ->> '${name}')::boolean, false)`;
  return `case when ${set} is not null then jsonb_build_object(
    'push_levels', ${levels('push')}, 'merge_levels', ${levels('merge')},
    'allow_force_push', ${flag('allow_force_push')},
    'developer_can_initial_push', ${flag('developer_can_initial_push')}) end`;
}

/** SQL: the settings for merges that a project has set; null for none. `alias` is that of projects. */
export function projectMergeSettingsSql(alias: string): string {
  const names = Object.keys(directoryMergeSettings.fields).join(',');
  return `(select jsonb_object_agg(s.key, s.value) from jsonb_each(${alias}.settings) s
    where s.key = any('{${names}}') and s.value <> 'null')`;
}

/** SQL: the origin of a fork, or null for a project that is not a fork. `alias` is the alias of projects. */
export function projectForkOriginSql(alias: string): string {
  const fields = `'project_id', ${alias}.forked_from_project_id, 'network_id', ${alias}.fork_network_id, 'branch', ${alias}.forked_branch`;
  return `case when ${alias}.fork_network_id is not null then jsonb_build_object(${fields}) end`;
}

/** SQL: the group or project of a token's bot. It never changes: it is that of the token and its rotated successors. */
function botResourceIdSql(type: 'group' | 'project'): string {
  return `case when x.kind = 'project_bot' then (select max(b.resource_id) from access_tokens b
    where b.user_id = x.id and b.resource_type = '${type}') end`;
}

export const LOGGED_KINDS = Object.keys(TABLES) as DirectoryKind[];

/** SQL: the state of a row as in the contract. Returns an expression of type jsonb over the row `alias`. */
export function directoryRowStateSql(kind: DirectoryKind, alias: string): string {
  const fields = Object.entries<Schema>(DIRECTORY_KINDS[kind].fields).map(([field, schema]) => {
    const source = DERIVED[`${kind}.${field}`] ?? (schema.kind === 'instant' ? instantSql(`x.${field}`) : `x.${field}`);
    return `'${field}', ${source.replaceAll('x.', `${alias}.`)}`;
  });
  return `jsonb_build_object(${fields.join(', ')})`;
}

const wanted = LOGGED_KINDS.map(
  (kind, index) =>
    `select ${index} as rank, '${kind}' as kind, w.id, (select ${directoryRowStateSql(kind, 't')} from ${TABLES[kind]} t where t.id = w.id) as state
     from unnest($${index + 1}::bigint[]) as w(id)`,
).join('\n    union all ');

/**
 * Writes states under the version that this transaction has just created. $1… are ids of each kind in the order of
 * LOGGED_KINDS, then the ids of tokens. A deleted row becomes a tombstone.
 */
export const WRITE_CHANGES = prepareStatement(
  'directory_write_changes',
  `insert into directory_changes (version, ordinal, kind, entity_id, state)
   select (select version from directory_head), row_number() over (order by rank, id), kind, id, state from (
     ${wanted}
     union all select ${LOGGED_KINDS.length}, 'token', w.id, null from unnest($${LOGGED_KINDS.length + 1}::bigint[]) as w(id)
   ) as changed`,
);

const all = LOGGED_KINDS.map(
  (kind, index) =>
    `select ${index} as rank, '${kind}' as kind, t.id, ${directoryRowStateSql(kind, 't')} as state from ${TABLES[kind]} t`,
).join('\n    union all ');

/** Entries per version when the log is rewritten, because copies read whole versions at a time. */
const REWRITE_CHUNK = 1000;

/** Adds the state of every user, namespace, project, membership and share to the log, from version $1 on. Returns the last version used. */
export const REWRITE_LOG = `with written as (
    insert into directory_changes (version, ordinal, kind, entity_id, state)
    select $1::bigint + (row_number() over (order by rank, id) - 1) / ${REWRITE_CHUNK}, row_number() over (order by rank, id), kind, id, state
    from (${all}) as everything
    returning version
  ) select coalesce(max(version), $1::bigint) as last from written`;
