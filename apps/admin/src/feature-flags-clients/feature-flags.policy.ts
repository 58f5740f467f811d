import { ability } from '@rookery/api-v4';
import type { Permission, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, SignedInViewer } from '@rookery/kernel';

/**
 * Somebody with this role, or an administrator of the instance, while the project has feature flags: where they or the
 * repository are disabled, they are for nobody. What is private is for members, and only members have a role.
 * Source: reference packages-and-admin 9.
 */
export function whileFlagsAreOn(role: Role): Permission<unknown, ProjectScope, SignedInViewer> {
  const least = ACCESS_LEVELS[role];
  return ability<unknown, ProjectScope>(
    `at least ${role}, while the project has feature flags`,
    ({ viewer, within }) =>
      within.featureFlagsAccessLevel !== 'disabled' &&
      within.repositoryAccessLevel !== 'disabled' &&
      (viewer.isAdmin || within.level >= least),
    { signedIn: true },
  );
}

/** Boolean SQL, of the project alone. Shape: `project` is the alias of directory_projects. */
export function hasFlagsSql(project: string): string {
  return `(${project}.feature_flags_access_level is distinct from 'disabled'
    and ${project}.repository_access_level is distinct from 'disabled')`;
}
