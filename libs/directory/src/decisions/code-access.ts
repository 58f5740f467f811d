import type { ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/**
 * Whether the viewer may read code of a project that they can see. Guests and planners read code of projects that are
 * not private. Source: reference repositories 1.2.
 */
export function mayReadCode(viewer: Viewer, project: ProjectScope): boolean {
  const { level, visibility, repositoryAccessLevel } = project;
  if (repositoryAccessLevel === 'disabled') return false;
  if (viewer.isAdmin || level >= ACCESS_LEVELS.reporter) return true;
  if (visibility === 'private') return false;
  return repositoryAccessLevel === 'enabled' || level >= ACCESS_LEVELS.guest;
}
