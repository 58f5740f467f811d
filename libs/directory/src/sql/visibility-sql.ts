import { projectAccessLevelSql } from './level-sql';

/**
 * Project and viewer of a visibility condition. `project` is the alias of directory_projects; the others are parameters
 * such as `$3`.
 */
export interface VisibleProject {
  readonly project: string;
  /** User id, null for an anonymous caller. */
  readonly viewer: string;
  readonly isAdmin: string;
  readonly isExternal: string;
}

/**
 * Boolean SQL: whether the viewer may see a project, by the same rule as kernel's `maySee`. For lists across projects.
 * Await `Directory.requireFresh(viewer)` first, so that the copy has reached the viewer's version.
 * Source: reference identity-and-import 1.5.
 */
export function visibleProjectSql({ project, viewer, isAdmin, isExternal }: VisibleProject): string {
  const level = projectAccessLevelSql({ user: `${viewer}::bigint`, project: `${project}.id`, namespace: 'home' });
  return `(${isAdmin}::boolean or ${project}.visibility = 'public'
    or (${project}.visibility = 'internal' and ${viewer}::bigint is not null and not ${isExternal}::boolean)
    or (${viewer}::bigint is not null and (select ${level} from directory_namespaces home where home.id = ${project}.namespace_id) >= 10))`;
}

/** Boolean SQL: whether the viewer may see a group. `namespace` is the alias of directory_namespaces. */
export function visibleGroupSql(o: Omit<VisibleProject, 'project'> & { readonly namespace: string }): string {
  return `(${o.namespace}.kind = 'group' and (${o.isAdmin}::boolean or ${o.namespace}.visibility = 'public'
    or (${o.namespace}.visibility = 'internal' and ${o.viewer}::bigint is not null and not ${o.isExternal}::boolean)
    or (${o.viewer}::bigint is not null and directory_group_level(${o.namespace}.id, ${o.viewer}::bigint) >= 10)))`;
}

/**
 * Boolean SQL: whether a namespace is this group or below it. Uses one range of the index on traversal_ids. `namespace`
 * is the alias of directory_namespaces. `traversalIds` is a bigint[] expression such as `$2`.
 */
export function withinGroupSql(o: { readonly namespace: string; readonly traversalIds: string }): string {
  const from = `${o.traversalIds}::bigint[]`;
  const last = `array_length(${from}, 1)`;
  return `(${o.namespace}.traversal_ids >= ${from}
    and ${o.namespace}.traversal_ids < (${from})[1:${last} - 1] || ((${from})[${last}] + 1))`;
}
