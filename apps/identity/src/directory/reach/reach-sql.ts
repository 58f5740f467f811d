import type { LevelTables } from '@rookery/directory';

/** Tables of identity for the decision expressions that the copies also use. */
export const OWN_TABLES: LevelTables = { memberships: 'members', shares: 'shares', namespaces: 'namespaces' };

/** Boolean SQL: the membership or share has not expired. It counts while today (UTC) is before its end. */
export const isMembershipOrShareUnexpiredSql = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/**
 * SQL: a sub-select of the ids of namespaces in which the user has at least `level`, by membership, by an invited
 * group, or as their own. The user reaches the namespaces below them too. `user` and `level` are SQL expressions.
 */
export function directlyReachedNamespacesSql(user: string, level: string): string {
  return `select m.source_id as id from members m
      where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${isMembershipOrShareUnexpiredSql('m')}
    union select o.id from namespaces o where o.owner_id = ${user}
    union ${sourcesThatInvitedUsersGroupsSql('namespace', user, level)}`;
}

/** SQL: projects in which the user has at least `level`, by the project's own members and invited groups. */
export function directlyReachedProjectsSql(user: string, level: string): string {
  return `select m.source_id as id from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.access_level >= ${level} and ${isMembershipOrShareUnexpiredSql('m')}
    union ${sourcesThatInvitedUsersGroupsSql('project', user, level)}`;
}

function sourcesThatInvitedUsersGroupsSql(source: 'namespace' | 'project', user: string, level: string): string {
  return `select s.source_id from shares s
      where s.source_type = '${source}' and s.access_level >= ${level} and ${isMembershipOrShareUnexpiredSql('s')} and s.group_id in (
        ${namespacesAtOrBelowSql(`select m.source_id from members m
          where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${isMembershipOrShareUnexpiredSql('m')}`)})`;
}

/** SQL: namespaces at or below the given ones. Source: ADR 0063. */
function namespacesAtOrBelowSql(namespaceIdsSql: string): string {
  return `select a.namespace_id as id from namespace_ancestors a where a.ancestor_id in (${namespaceIdsSql})`;
}
