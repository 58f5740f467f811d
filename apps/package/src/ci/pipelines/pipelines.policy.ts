import type { ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';

/** Rules for pipelines of a project that the caller may see. Source: reference identity-and-import 7.3, 7.4. */

/** Pipelines name commits, so they are readable by those who may read the code. */
export function canReadPipelines(viewer: Viewer, project: ProjectScope): boolean {
  const { level, visibility, repositoryAccessLevel } = project;
  if (repositoryAccessLevel === 'disabled') return false;
  if (hasProjectRoleOrIsAdmin('reporter', viewer, project)) return true;
  if (visibility === 'private') return false;
  return repositoryAccessLevel === 'enabled' || level >= ACCESS_LEVELS.guest;
}

/** Whether a user may start and change pipelines: developers, unless the project is archived. */
export function canRunPipelines(viewer: Pick<Viewer, 'isAdmin'>, project: RunnableProject): boolean {
  const { archived, repositoryAccessLevel } = project;
  return !archived && repositoryAccessLevel !== 'disabled' && hasProjectRoleOrIsAdmin('developer', viewer, project);
}
type RunnableProject = Pick<ProjectScope, 'archived' | 'repositoryAccessLevel' | 'level'>;

/** Developers who can read the pipeline: variables may hold secrets. */
export function canReadPipelineVariables(viewer: Viewer, project: ProjectScope): boolean {
  return canReadPipelines(viewer, project) && hasProjectRoleOrIsAdmin('developer', viewer, project);
}

/** Owners, unless the project is archived. */
export function canDeletePipelines(viewer: Viewer, project: ProjectScope): boolean {
  return !project.archived && hasProjectRoleOrIsAdmin('owner', viewer, project);
}

function hasProjectRoleOrIsAdmin(
  role: Role,
  viewer: Pick<Viewer, 'isAdmin'>,
  project: Pick<ProjectScope, 'level'>,
): boolean {
  return viewer.isAdmin || project.level >= ACCESS_LEVELS[role];
}
