import type { ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';

/**
 * Rules for packages of a project that the caller may see. No caller may do anything while packages are disabled.
 * Source: reference packages-and-admin 1.3.
 */

/** Every caller may read the packages of public and internal projects, and reporters those of private ones. */
export function canReadPackages(viewer: Viewer, project: ProjectScope): boolean {
  return (
    project.packagesEnabled &&
    (project.visibility !== 'private' || hasRoleAndPackagesEnabled('reporter', viewer, project))
  );
}

/** Developers, unless the project is archived. */
export function canPublishPackages(viewer: Viewer, project: ProjectScope): boolean {
  return !project.archived && hasRoleAndPackagesEnabled('developer', viewer, project);
}

/** Maintainers, unless the project is archived. */
export function canDeletePackages(viewer: Viewer, project: ProjectScope): boolean {
  return !project.archived && hasRoleAndPackagesEnabled('maintainer', viewer, project);
}

function hasRoleAndPackagesEnabled(role: Role, viewer: Viewer, project: ProjectScope): boolean {
  return project.packagesEnabled && (viewer.isAdmin || project.level >= ACCESS_LEVELS[role]);
}
