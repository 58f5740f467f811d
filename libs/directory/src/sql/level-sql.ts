/**
 * Tables of the SQL expression for a user's access level. The hot statements, the SQL functions of the copy and
 * identity's own decisions all use this expression. Source: requirements 2 §3; reference identity-and-import 1.5; ADR
 * 0040.
 *
 * The access level is the highest of: direct memberships of the project, of its namespace and of the namespace's
 * ancestors; for each group invited to one of those, the lower of the share's level and the member's level in the
 * invited group or its ancestors; 50 for the owner of the user namespace. Memberships and shares count while today
 * (UTC, by the clock of the database at decision time) is before `expires_on`.
 */
export interface LevelTables {
  readonly memberships: string;
  readonly shares: string;
  readonly namespaces: string;
}

/** The tables of a service's copy. */
const COPY_TABLES: LevelTables = {
  memberships: 'directory_memberships',
  shares: 'directory_shares',
  namespaces: 'directory_namespaces',
};

/**
 * User and group of a level expression. `user` is an SQL expression. `namespace` is the alias of a row with `kind`,
 * `owner_id`, `traversal_ids`.
 */
export interface GroupLevel {
  readonly user: string;
  readonly namespace: string;
  readonly tables?: LevelTables;
}

export interface ProjectLevel extends GroupLevel {
  readonly project: string;
}

/** Returns an integer SQL expression: the access level in a group or user namespace, or 0 for no level. */
export function groupAccessLevelSql(level: GroupLevel): string {
  return highestLevelSql([
    ...membershipAndShareLevelSelects(level, 'namespace', `any(${level.namespace}.traversal_ids)`),
    personalNamespaceOwnerLevelSql(level),
  ]);
}

/** Returns an integer SQL expression: the access level in a project, or 0 for no level. */
export function projectAccessLevelSql(level: ProjectLevel): string {
  return highestLevelSql([
    ...membershipAndShareLevelSelects(level, 'project', level.project),
    ...membershipAndShareLevelSelects(level, 'namespace', `any(${level.namespace}.traversal_ids)`),
    personalNamespaceOwnerLevelSql(level),
  ]);
}

function membershipAndShareLevelSelects(
  { user, tables = COPY_TABLES }: GroupLevel,
  sourceType: string,
  sourceId: string,
): string[] {
  const at = (alias: string): string => `${alias}.source_type = '${sourceType}' and ${alias}.source_id = ${sourceId}`;
  return [
    `select m.access_level as level from ${tables.memberships} m
      where m.user_id = ${user} and ${at('m')} and ${notExpiredSql('m')}`,
    `select least(s.access_level, m.access_level) from ${tables.shares} s
      join ${tables.namespaces} invited on invited.id = s.group_id
      join ${tables.memberships} m on m.user_id = ${user} and m.source_type = 'namespace'
        and m.source_id = any(invited.traversal_ids)
      where ${at('s')} and ${notExpiredSql('s')} and ${notExpiredSql('m')}`,
  ];
}

function personalNamespaceOwnerLevelSql({ namespace, user }: GroupLevel): string {
  return `select 50 where ${namespace}.kind = 'user' and ${namespace}.owner_id = ${user}`;
}

function notExpiredSql(alias: string): string {
  return `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;
}

function highestLevelSql(selects: readonly string[]): string {
  return `coalesce((select max(held.level)::integer from (${selects.join('\n    union all ')}) held), 0)`;
}
