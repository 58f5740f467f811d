import type { Viewer } from '@rookery/kernel';
import type { ProjectSet } from './project-lists.queries';

/** SQL: projects in the user's own namespace. Bots of groups and projects have none. */
export function projectsInPersonalNamespace(user: { readonly namespace_id: number | null }): ProjectSet {
  return { where: (bind) => `p.namespace_id = ${bind(user.namespace_id, 'namespace')}::bigint` };
}

/**
 * SQL: projects that the user has starred. With a private profile they are visible only to the user and to
 * administrators. Source: reference identity-and-import 10.2.
 */
export function projectsStarredBy(
  user: { readonly id: number; readonly private_profile: boolean },
  viewer: Viewer,
): ProjectSet {
  if (user.private_profile && !viewer.isAdmin && viewer.userId !== user.id) return { where: () => 'false' };
  return {
    where: (bind) => `p.id in (select starred.project_id from project_stars starred
      where starred.user_id = ${bind(user.id, 'starred_by')}::bigint)`,
  };
}
