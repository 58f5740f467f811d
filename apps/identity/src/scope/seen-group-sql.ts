import { groupLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { OWN_TABLES } from './reach-sql';

/**
 * Boolean SQL: may the viewer know of this group? The same rule as kernel's `maySee`, for groups that a statement joins.
 * Shape: `namespace` is the alias of a row of `namespaces`; `user` an SQL expression of the viewer's id, which the
 * text holds only for people who are not administrators.
 */
export function seenGroupSql(viewer: Viewer, { namespace, user }: { namespace: string; user: string }): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `${namespace}.visibility = 'public'`;
  const open = viewer.isExternal ? `${namespace}.visibility = 'public'` : `${namespace}.visibility <> 'private'`;
  return `(${open} or ${groupLevelSql({ user, namespace, tables: OWN_TABLES })} >= 10)`;
}
