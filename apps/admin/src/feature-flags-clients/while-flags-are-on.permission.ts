import { ability } from '@rookery/api-v4';
import type { Permission, ProjectScope } from '@rookery/api-v4';
import type { Role, SignedInViewer } from '@rookery/kernel';
import { featureFlagsPolicy } from './feature-flags.policy';

/** Permission: at least this role, while the project has feature flags. */
export function whileFeatureFlagsAreOn(role: Role): Permission<unknown, ProjectScope, SignedInViewer> {
  return ability<unknown, ProjectScope>(
    `at least ${role}, while the project has feature flags`,
    ({ viewer, within }) => featureFlagsPolicy.mayUse(viewer, within, role),
    { signedIn: true },
  );
}
