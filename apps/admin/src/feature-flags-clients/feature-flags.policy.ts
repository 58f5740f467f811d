import type { ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';

/** Who uses the feature flags of a project. Source: reference packages-and-admin 9. */
export const featureFlagsPolicy = {
  /**
   * Somebody with this role, or an administrator of the instance, while the project has feature flags: where they or the
   * repository are disabled, they are for nobody. What is private is for members, and only members have a role.
   */
  mayUse(viewer: Viewer, project: ProjectScope, role: Role): boolean {
    const isOn = project.featureFlagsAccessLevel !== 'disabled' && project.repositoryAccessLevel !== 'disabled';
    return isOn && (viewer.isAdmin || project.level >= ACCESS_LEVELS[role]);
  },
};

/** Boolean SQL: has the project feature flags? Shape: `project` is the alias of directory_projects. */
export function hasFlagsSql(project: string): string {
  return `(${project}.feature_flags_access_level is distinct from 'disabled'
    and ${project}.repository_access_level is distinct from 'disabled')`;
}
