import { ability, project } from '@rookery/api-v4';
import type { ProjectScope } from '@rookery/api-v4';
import { Forbidden } from '@rookery/kernel';
import { hasRepository } from '../../code/repositories/code-access.policy';

/** Permits callers who see the project, if it has a repository for them. */
const readsReleases = ability<unknown, ProjectScope>('may read releases', ({ viewer, within }) =>
  hasRepository(viewer, within),
);

/** Options of routes that read releases without facts of the code. Source: reference repositories 7.2. */
export const readsReleasesOf = {
  within: project(),
  may: readsReleases,
  refusals: { anonymousAs: () => new Forbidden() },
} as const;
