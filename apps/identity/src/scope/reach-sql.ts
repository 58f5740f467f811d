import type { LevelTables } from '@rookery/directory';

/** Identity decides over its own tables, with the very expressions that the copies use. */
export const OWN_TABLES: LevelTables = { memberships: 'members', shares: 'shares', namespaces: 'namespaces' };

const live = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/**
 * Namespaces where the user holds at least `level` by a membership, an invited group, or as their person; what lies
 * below them is reached too. Shape: a sub-select of ids; `user` and `level` are SQL expressions.
 */
export function reachedNamespacesSql(user: string, level: string): string {
  return `select m.source_id as id from members m
      where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${live('m')}
    union select o.id from namespaces o where o.owner_id = ${user}
    union ${invitedSql('namespace', user, level)}`;
}

/** Projects in which the user holds at least `level` by the project's own members and invited groups. */
export function reachedProjectsSql(user: string, level: string): string {
  return `select m.source_id as id from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.access_level >= ${level} and ${live('m')}
    union ${invitedSql('project', user, level)}`;
}

function invitedSql(source: 'namespace' | 'project', user: string, level: string): string {
  return `select s.source_id from members m
      join namespaces top on top.id = m.source_id
      join namespaces g on ${withinSql('g', 'top')}
      join shares s on s.group_id = g.id and s.source_type = '${source}' and s.access_level >= ${level} and ${live('s')}
      where m.user_id = ${user} and m.source_type = 'namespace' and m.access_level >= ${level} and ${live('m')}
        and exists (select 1 from shares)`;
}

/** Is the namespace `n` the namespace `top` or anything below it? One range of the index on traversal_ids. */
export function withinSql(n: string, top: string): string {
  const last = `array_length(${top}.traversal_ids, 1)`;
  return `(${n}.traversal_ids >= ${top}.traversal_ids
    and ${n}.traversal_ids < ${top}.traversal_ids[1:${last} - 1] || (${top}.traversal_ids[${last}] + 1))`;
}

/** All namespaces that the user reaches with at least `level`, descendants included. */
export function reachedTreeSql(user: string, level: string): string {
  return `select below.id from namespaces top join namespaces below on ${withinSql('below', 'top')}
    where top.id in (${reachedNamespacesSql(user, level)})`;
}
