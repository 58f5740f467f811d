import { ability } from '@rookery/api-v4';
import type { Permission, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, SignedInViewer } from '@rookery/kernel';

/**
 * Permission: at least this role, or an administrator of the instance, while the project has packages. No user may
 * while packages are disabled. Source: reference packages-and-admin 1.2.
 */
export function whilePackagesAreOn(role: Role): Permission<unknown, ProjectScope, SignedInViewer> {
  return ability<unknown, ProjectScope>(
    `at least ${role}, while the project has packages`,
    ({ viewer, within }) => within.packagesEnabled && (viewer.isAdmin || within.level >= ACCESS_LEVELS[role]),
    { signedIn: true },
  );
}
