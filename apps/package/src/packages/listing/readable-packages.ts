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

/**
 * Condition that the viewer may read the packages of the project and its code: without the repository, lists and
 * registries over several projects show no packages. For the code it agrees with `mayReadCode`.
 */
export function canReadProjectPackagesSql(): string {
  const isOpen = `(project.visibility = 'public'
      or (project.visibility = 'internal' and :viewer::bigint is not null and not :isExternal::boolean))`;
  return `project.packages_enabled and project.repository_access_level is distinct from 'disabled' and (:isAdmin::boolean
      or (${isOpen} and (project.repository_access_level is null or project.repository_access_level = 'enabled'))
      or (:viewer::bigint is not null and ${viewerProjectLevelSql()}
        >= case when ${isOpen} then ${ACCESS_LEVELS.guest} else ${ACCESS_LEVELS.reporter} end))`;
}
