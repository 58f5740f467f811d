import { groupAccessLevelSql, projectAccessLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';

/** SQL expressions for the person who reads: parameters of a list, or columns of the users that an effect handles. */
export interface PersonSql {
  /** SQL expression for the id of the user. Its value is null for an anonymous person. */
  readonly user: string;
  readonly isAdmin: string;
  readonly isExternal: string;
}

const { guest, planner, reporter, owner } = ACCESS_LEVELS;

/**
 * Lateral subquery with one row if the person may see the project, else none. The row holds the person's access and the
 * shown columns of the project. Applies the rules of `createNoteableReader`, for statements over several projects.
 * Columns: `project_id`, `name`, `path`, `full_path`, `name_with_namespace`, `description`, `created_at`,
 * `traversal_ids`, `emails_enabled`, `reads_<feature>`, `is_member`, `reads_confidential`, `reads_internal`.
 * Source: reference identity-and-import 1.5; reference work-tracking 2.4, 9.1; ADR 0080.
 */
export function projectAccessRowSql(project: string, person: PersonSql): string {
  const level = projectAccessLevelSql({ user: person.user, project: 'p.id', namespace: 'home' });
  const reads = (feature: string, also = ''): string => `(p.${feature}_access_level = 'enabled'
        or (p.${feature}_access_level = 'private' and held.level >= ${guest}))${also} as reads_${feature}`;
  const code = `coalesce(p.repository_access_level, 'enabled')`;
  const readsCode = ` and ${code} <> 'disabled' and (held.level >= ${reporter} or (p.visibility <> 'private'
        and (held.level >= ${guest} or ${code} = 'enabled')))`;
  // Each `offset 0` keeps the planner from flattening a subquery. Without the inner one, the level would be computed once
  // for each use. Without the outer one, the planner may compute the access to every project before it filters by id.
  return `(select p.id as project_id, p.name, p.path, home.full_path || '/' || p.path as full_path,
      home.full_name || ' / ' || p.name as name_with_namespace, p.description, p.created_at, home.traversal_ids,
      p.emails_enabled, ${reads('issues')}, ${reads('merge_requests', readsCode)}, ${reads('snippets')},
      held.level >= ${guest} as is_member, held.level >= ${planner} as reads_confidential,
      held.level >= ${reporter} as reads_internal
    from directory_projects p join directory_namespaces home on home.id = p.namespace_id
    cross join lateral (select case when ${person.isAdmin} then ${owner} when ${person.user} is null then 0
      else ${level} end as level offset 0) held
    where p.id = ${project} and (p.visibility = 'public' or held.level >= ${guest}
      or (p.visibility = 'internal' and ${person.user} is not null and not ${person.isExternal}))
    offset 0)`;
}

/**
 * Lateral subquery with one row if the person may see the group, else none. Noteables of groups exist only for
 * signed-in users, and only on plans that include them.
 * Columns: `group_id`, `name`, `path`, `full_path`, `parent_id`, `avatar_url`, `traversal_ids`, `emails_enabled`,
 * `reads_epics`, `is_member`, `reads_confidential`, `reads_internal`. The subquery uses the alias `g`.
 * With `plan` 'any', groups of each plan have a row, and `reads_epics` depends on the plan.
 * Source: reference work-tracking 1.4, 5.1.
 */
export function groupAccessRowSql(group: string, person: PersonSql, plan: 'with epics' | 'any' = 'with epics'): string {
  const level = groupAccessLevelSql({ user: person.user, namespace: 'g' });
  return `(select g.id as group_id, g.name, g.path, g.full_path, g.parent_id, g.avatar_url, g.traversal_ids, g.emails_enabled,
      ${plan === 'any' ? `g.plan <> 'free'` : 'true'} as reads_epics, held.level >= ${guest} as is_member, held.level >= ${planner} as reads_confidential,
      held.level >= ${reporter} as reads_internal
    from directory_namespaces g
    cross join lateral (select case when ${person.isAdmin} then ${owner} else ${level} end as level offset 0) held
    where g.id = ${group} and g.kind = 'group' ${plan === 'any' ? '' : `and g.plan <> 'free' `}and ${person.user} is not null
      and (g.visibility = 'public' or held.level >= ${guest} or (g.visibility = 'internal' and not ${person.isExternal}))
    offset 0)`;
}

/**
 * Boolean SQL: does an access show the code of the project? Guests and planners do not read the code of a private
 * project. Only members read the code of a private repository. `reads_internal` is true for reporters and higher roles.
 * `project` is an SQL expression for an id. `access` is the alias of a `projectAccessRowSql` subquery.
 * Source: reference repositories 1.2.
 */
export function readsCodeSql(project: string, access: string): string {
  return `exists (select 1 from directory_projects code where code.id = ${project}
        and coalesce(code.repository_access_level, 'enabled') <> 'disabled' and (${access}.reads_internal or (code.visibility <> 'private'
        and (${access}.is_member or coalesce(code.repository_access_level, 'enabled') = 'enabled'))))`;
}

/** Subquery for the id of the user with a username, ignoring case. `username` is a text expression. */
export function userIdByUsernameSql(username: string): string {
  return `(select u.id from directory_users u where lower(u.username) = lower(${username}) limit 1)`;
}
