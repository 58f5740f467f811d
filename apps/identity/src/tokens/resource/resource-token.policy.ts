import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Resource } from './resource';

const NEEDED = { group: ACCESS_LEVELS.owner, project: ACCESS_LEVELS.maintainer } as const;

/** Groups: owners. Projects: maintainers. Source: reference identity-and-import 4.9. */
export function mayManageTokens(viewer: Viewer, resource: Pick<Resource, 'type' | 'level'>): boolean {
  return viewer.isAdmin || resource.level >= NEEDED[resource.type];
}

/** Bots make no further tokens unless they are owners. Source: reference identity-and-import 4.9. */
export function mayMakeTokens(viewer: Viewer, resource: Pick<Resource, 'type' | 'level'>): boolean {
  return mayManageTokens(viewer, resource) && (!viewer.isBot || resource.level >= ACCESS_LEVELS.owner);
}

/** Nobody makes or renews a token of a level above their own. */
export function mayDealWithLevel(viewer: Viewer, resource: Pick<Resource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= resource.level;
}
