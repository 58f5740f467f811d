import { withinGroupSql } from '@rookery/directory';

const isEffectiveMembershipSql = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)
    and ${alias}.access_level >= 10`;

/**
 * Common table expressions up to `mine (project_id)`: the projects of which a user is a member, found from memberships
 * and not by checking every project. `user` is an SQL expression. A few projects without access may be among them (a
 * share of a share), so readers of the list must check access. Source: ADR 0080.
 */
export function memberProjectsSql(user: string): string {
  const below = (roots: string): string => `select n.id, n.traversal_ids from ${roots} root
    join directory_namespaces top on top.id = root.id
    join directory_namespaces n on ${withinGroupSql({ namespace: 'n', traversalIds: 'top.traversal_ids' })}`;
  return `own_roots as (
      select m.source_id as id from directory_memberships m
      where m.user_id = ${user} and m.source_type = 'namespace' and ${isEffectiveMembershipSql('m')}
      union select n.id from directory_users u join directory_namespaces n
        on lower(n.full_path) = lower(u.username) and n.kind = 'user' and n.owner_id = u.id where u.id = ${user}
    ), own_groups as (${below('own_roots')}
    ), shared as (
      select s.source_type, s.source_id as id from own_groups g
      join directory_shares s on s.group_id = g.id and ${isEffectiveMembershipSql('s')}
    ), all_groups as (
      select id from own_groups union select id from (${below(`(select id from shared where source_type = 'namespace')`)}) lent
    ), mine as (
      select p.id as project_id from all_groups g join directory_projects p on p.namespace_id = g.id
      union select m.source_id from directory_memberships m
        where m.user_id = ${user} and m.source_type = 'project' and ${isEffectiveMembershipSql('m')}
      union select id from shared where source_type = 'project'
    )`;
}
