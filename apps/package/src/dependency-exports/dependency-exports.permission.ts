import { ability } from '@rookery/api-v4';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { canReadDependencies } from './dependency-exports.policy';

export const readsDependencies = ability<unknown, ProjectScope | GroupScope>(
  'may read dependencies',
  ({ viewer, within }) => canReadDependencies(viewer, within),
  { signedIn: true },
);
