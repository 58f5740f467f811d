import { projectLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';

/**
 * Visibility of packages as SQL, for statements over several projects. Shape: `project` is the alias of the project and
 * `home` that of its namespace; the parameters are `:viewer`, `:isAdmin` and `:isExternal`.
 * Source: reference packages-and-admin 1.3, 3.4.
 */

/** Level of the viewer in the project. */
export function projectOfPackageLevelSql(): string {
  return projectLevelSql({ user: ':viewer::bigint', project: 'project.id', namespace: 'home' });
}

/** Condition that the viewer may read the packages of the project. */
export function readablePackagesSql(): string {
  return `project.packages_enabled and (:isAdmin::boolean or project.visibility = 'public'
      or (project.visibility = 'internal' and :viewer::bigint is not null and not :isExternal::boolean)
      or (:viewer::bigint is not null and ${projectOfPackageLevelSql()} >= ${ACCESS_LEVELS.reporter}))`;
}
