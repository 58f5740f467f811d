import { projectLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { OWN_TABLES } from './reach-sql';

/**
 * Boolean SQL: may the viewer know of this project? The same rule as kernel's `maySee`, for single projects that a
 * statement joins; lists are cut by what the viewer reaches instead.
 * Shape: `project` and `namespace` are aliases of rows; `user` an SQL expression of the viewer's id, which the text
 * holds only for people who are not administrators.
 */
export function seenProjectSql(
  viewer: Viewer,
  { project, namespace, user }: { project: string; namespace: string; user: string },
): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `${project}.visibility = 'public'`;
  const open = viewer.isExternal ? `${project}.visibility = 'public'` : `${project}.visibility <> 'private'`;
  const level = projectLevelSql({ user, project: `${project}.id`, namespace, tables: OWN_TABLES });
  return `(${open} or ${level} >= 10)`;
}
