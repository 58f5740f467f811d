import { groupAccessLevelSql, projectAccessLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { OWN_TABLES } from './reach-sql';

/**
 * Boolean SQL: the viewer can see this group. The same rule as kernel's `maySee`, for groups that a statement joins.
 * `namespace` is the alias of a row of `namespaces`; `user` is an SQL expression of the viewer's id, which the text
 * contains only for viewers who are not administrators.
 */
export function isGroupVisibleSql(viewer: Viewer, { namespace, user }: { namespace: string; user: string }): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `${namespace}.visibility = 'public'`;
  const open = viewer.isExternal ? `${namespace}.visibility = 'public'` : `${namespace}.visibility <> 'private'`;
  return `(${open} or ${groupAccessLevelSql({ user, namespace, tables: OWN_TABLES })} >= 10)`;
}

/**
 * Boolean SQL: the viewer can see this project. The same rule as kernel's `maySee`, for single projects that a
 * statement joins; lists are filtered by the projects that the viewer reaches instead. `project` and `namespace` are
 * aliases of rows. `user` is an SQL expression of the viewer's id. The text contains it only for viewers who are not
 * administrators.
 */
export function isProjectVisibleSql(
  viewer: Viewer,
  { project, namespace, user }: { project: string; namespace: string; user: string },
): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `${project}.visibility = 'public'`;
  const open = viewer.isExternal ? `${project}.visibility = 'public'` : `${project}.visibility <> 'private'`;
  const level = projectAccessLevelSql({ user, project: `${project}.id`, namespace, tables: OWN_TABLES });
  return `(${open} or ${level} >= 10)`;
}
