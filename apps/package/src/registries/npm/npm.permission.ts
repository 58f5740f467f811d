import { ability } from '@rookery/api-v4';
import type { GroupScope, ProjectScope, Refusals, RenderedError } from '@rookery/api-v4';
import { NotFound, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { addErrorKeyToRefusal } from '../../packages/error-key.presenter';
import { canReadPackages } from '../../packages/packages.policy';

/** Undefined for the registry of the instance. */
export type NpmScope = ProjectScope | GroupScope | undefined;

/** In groups and in the instance the statements leave out what the caller may not read. */
export const readsNpmPackages = ability<unknown, NpmScope>(
  'may read npm packages',
  ({ viewer, within }) => within?.kind !== 'project' || canReadPackages(viewer, within),
);

/** Leaves out the challenge, because npm clients would show that in place of the text. */
function withoutChallenge(refusal: RenderedError): RenderedError {
  const { 'www-authenticate': _, ...headers } = refusal.headers;
  return addErrorKeyToRefusal({ ...refusal, headers });
}

/** Refusals of npm routes. An anonymous caller is refused with 401 where they see no project or group. */
export function npmRefusals(resource: 'Project' | 'Group'): Refusals {
  return {
    anonymousAs: () => new Unauthorized(),
    parentAs: ({ userId }: Viewer) => (userId === null ? new Unauthorized() : new NotFound(resource)),
    renderedAs: withoutChallenge,
  };
}
