import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Resource } from './resource';

const NEEDED = { group: ACCESS_LEVELS.owner, project: ACCESS_LEVELS.maintainer } as const;

/**
 * Permission to manage tokens. In groups owners, in projects maintainers. Source: reference identity-and-import 4.9.
 */
export function mayManageTokens(viewer: Viewer, resource: Pick<Resource, 'type' | 'level'>): boolean {
  return viewer.isAdmin || resource.level >= NEEDED[resource.type];
}

/** Permission to create tokens. Bots may only as owners. Source: reference identity-and-import 4.9. */
export function mayMakeTokens(viewer: Viewer, resource: Pick<Resource, 'type' | 'level'>): boolean {
  return mayManageTokens(viewer, resource) && (!viewer.isBot || resource.level >= ACCESS_LEVELS.owner);
}

/** Whether the viewer may create or rotate a token of this level. It must not be above the viewer's own. */
export function mayGrantTokenLevel(viewer: Viewer, resource: Pick<Resource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= resource.level;
}
