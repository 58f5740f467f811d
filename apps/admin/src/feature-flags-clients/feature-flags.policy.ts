import type { ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';

/** Access rules for a project's feature flags. Source: reference packages-and-admin 9. */
export const featureFlagsPolicy = {
  /**
   * Whether the viewer may use the flags: with at least this role, or as an administrator of the instance, while the
   * project has feature flags. No user may while flags or the repository are disabled. The level `private` needs no
   * check: only members have a role.
   */
  mayUse(viewer: Viewer, project: ProjectScope, role: Role): boolean {
    const isOn = project.featureFlagsAccessLevel !== 'disabled' && project.repositoryAccessLevel !== 'disabled';
    return isOn && (viewer.isAdmin || project.level >= ACCESS_LEVELS[role]);
  },
};

/** Boolean SQL: the project has feature flags. `alias` is the alias of directory_projects. */
export function hasFeatureFlagsSql(alias: string): string {
  return `(${alias}.feature_flags_access_level is distinct from 'disabled'
    and ${alias}.repository_access_level is distinct from 'disabled')`;
}
