import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';

/**
 * Permission for changing, deleting and sharing a group and managing its members. Source: reference identity-and-import
 * 12.
 */
export function mayAdministerGroup(viewer: Viewer, group: { readonly level: number }): boolean {
  return viewer.isAdmin || group.level >= ACCESS_LEVELS.owner;
}

/** Permission for creating a top-level group: users whom administrators have not denied it, but no external users. */
export function mayCreateTopLevelGroup(viewer: Viewer, user: { readonly can_create_group: boolean }): boolean {
  return viewer.isAdmin || (user.can_create_group && !viewer.isExternal && !viewer.isBot);
}

/** Source: reference identity-and-import 2.5. */
export function mayCreateSubgroup(viewer: Viewer, level: number, subgroupCreationLevel: string): boolean {
  const needed = subgroupCreationLevel === 'maintainer' ? ACCESS_LEVELS.maintainer : ACCESS_LEVELS.owner;
  return viewer.isAdmin || level >= needed;
}

const PROJECT_CREATION: Readonly<Record<string, number>> = {
  developer: ACCESS_LEVELS.developer,
  maintainer: ACCESS_LEVELS.maintainer,
  owner: ACCESS_LEVELS.owner,
  administrator: Infinity,
  noone: Infinity,
};

/**
 * Permission for creating a project: maintainers and above, or as the group's setting allows. Source: reference
 * identity-and-import 12.
 */
export function mayCreateProjectIn(viewer: Viewer, level: number, projectCreationLevel: string): boolean {
  if (viewer.isAdmin) return true;
  return level >= (PROJECT_CREATION[projectCreationLevel] ?? Infinity);
}
