import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';

const namespaceDescendantsFromClauseSql = (id: string): string => `namespace_ancestors a where a.ancestor_id = ${id}`;
const projectIdsBelowNamespaceSql = (id: string): string =>
  `select p.id from projects p where p.namespace_id in (select a.namespace_id from ${namespaceDescendantsFromClauseSql(id)})`;

/**
 * SQL: an integer expression for the number of seats used in a namespace. It counts active humans with a level anywhere
 * in it, by membership or by an invited group. In the highest plan guests are free. A personal namespace uses one.
 * `namespace` is the alias of a row with `id`, `kind` and `plan`. Source: reference identity-and-import 3.
 */
export function usedSeatCountSql(namespace: string): string {
  const id = `${namespace}.id`;
  const tree = namespaceDescendantsFromClauseSql(id);
  return `case ${namespace}.kind when 'user' then 1 else (
    select count(distinct held.user_id)::int from (
      select m.user_id, m.access_level from members m where m.source_type = 'namespace' and ${isMembershipOrShareUnexpiredSql('m')}
        and m.source_id in (select a.namespace_id from ${tree})
      union all select m.user_id, m.access_level from members m where m.source_type = 'project' and ${isMembershipOrShareUnexpiredSql('m')}
        and m.source_id in (${projectIdsBelowNamespaceSql(id)})
      union all select m.user_id, least(s.access_level, m.access_level) from shares s
        join namespaces g on g.id = s.group_id
        join members m on m.source_type = 'namespace' and m.source_id = any(g.traversal_ids) and ${isMembershipOrShareUnexpiredSql('m')}
        where ${isMembershipOrShareUnexpiredSql('s')} and ((s.source_type = 'namespace' and s.source_id in (select a.namespace_id from ${tree}))
          or (s.source_type = 'project' and s.source_id in (${projectIdsBelowNamespaceSql(id)})))
    ) held join users u on u.id = held.user_id and u.state = 'active' and u.kind = 'human'
    where held.access_level > case ${namespace}.plan when 'ultimate' then 10 else 5 end) end`;
}

/**
 * SQL: number of active users who are direct members of a group or of groups below it. Returns an integer expression of
 * the group's id.
 */
export function membersCountWithDescendantsSql(groupIdSql: string): string {
  const tree = namespaceDescendantsFromClauseSql(groupIdSql);
  return `(select count(distinct m.user_id)::int from members m join users u on u.id = m.user_id and u.state = 'active'
    where m.source_type = 'namespace' and ${isMembershipOrShareUnexpiredSql('m')} and m.source_id in (select a.namespace_id from ${tree}))`;
}

/**
 * SQL: an integer expression for the number of projects in a namespace and those below it. `namespaceIdSql` is an SQL expression of
 * the namespace's id.
 */
export function namespaceProjectsCountSql(namespaceIdSql: string): string {
  const tree = namespaceDescendantsFromClauseSql(namespaceIdSql);
  return `(select count(*)::int from projects p where p.namespace_id in (select a.namespace_id from ${tree}))`;
}
