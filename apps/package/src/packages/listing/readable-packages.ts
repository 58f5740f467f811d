import { projectAccessLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';

/**
 * Visibility of packages as SQL, for statements over several projects. `project` is the alias of the project and `home`
 * that of its namespace; the parameters are `:viewer`, `:isAdmin` and `:isExternal`. Source: reference
 * packages-and-admin 1.3, 3.4.
 */

/** Level of the viewer in the project. */
export function viewerProjectLevelSql(): string {
  return projectAccessLevelSql({ user: ':viewer::bigint', project: 'project.id', namespace: 'home' });
}

/** Condition that the viewer may also read the code of the project, as `mayReadCode` for a project that they see. */
export function canReadProjectCodeSql(): string {
  const level = viewerProjectLevelSql();
  return `project.repository_access_level is distinct from 'disabled' and (:isAdmin::boolean
      or (:viewer::bigint is not null and ${level} >= ${ACCESS_LEVELS.reporter})
      or (project.visibility <> 'private' and (coalesce(project.repository_access_level, 'enabled') = 'enabled'
        or (:viewer::bigint is not null and ${level} >= ${ACCESS_LEVELS.guest}))))`;
}

/** Condition that the viewer may read the packages of the project. */
export function canReadProjectPackagesSql(): string {
  return `project.packages_enabled and (:isAdmin::boolean or project.visibility = 'public'
      or (project.visibility = 'internal' and :viewer::bigint is not null and not :isExternal::boolean)
      or (:viewer::bigint is not null and ${viewerProjectLevelSql()} >= ${ACCESS_LEVELS.reporter}))`;
}
