import { ability, anyone, group, project } from '@rookery/api-v4';
import type { ProjectScope, Refusals } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { NotFound, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { canDeletePackages, canPublishPackages, canReadPackages } from './packages.policy';

export const readsPackages = ability<unknown, ProjectScope>('may read packages', ({ viewer, within }) =>
  canReadPackages(viewer, within),
);

export const publishesPackages = ability<unknown, ProjectScope>(
  'may publish packages',
  ({ viewer, within }) => canPublishPackages(viewer, within),
  { signedIn: true },
);

/** Permission to read packages whose files come from the repository. */
export const readsCodeOfPackages = ability<unknown, ProjectScope>(
  'may read packages and code',
  ({ viewer, within }) => canReadPackages(viewer, within) && mayReadCode(viewer, within),
);

/** Permission to publish packages whose files come from the repository. */
export const publishesCode = ability<unknown, ProjectScope>(
  'may publish packages and read code',
  ({ viewer, within }) => canPublishPackages(viewer, within) && mayReadCode(viewer, within),
  { signedIn: true },
);

/** An anonymous caller is refused with 403 in a public project and with 404 in a private one. */
export const deletesPackages = ability<unknown, ProjectScope>(
  'may delete packages',
  ({ viewer, within }) => canDeletePackages(viewer, within),
  { anonymous: 'asked' },
);

/** Permission to delete packages for clients with Basic credentials: an anonymous caller is asked for them. */
export const removesPackages = ability<unknown, ProjectScope>(
  'may delete packages',
  ({ viewer, within }) => canDeletePackages(viewer, within),
  { signedIn: true },
);

/**
 * Package managers that know Basic credentials send them only after this challenge, and some choose them by the realm.
 * Source: reference packages-and-admin 1.4.
 */
export const CHALLENGE = 'Basic realm="GitLab Packages Registry"';

/**
 * Refuses anonymous callers with the challenge where they see no project, so that clients repeat the request with
 * credentials. Source: reference packages-and-admin 1.5.
 */
export const BASIC_REFUSALS: Refusals = refusalsWithBasicChallenge('Project');

function refusalsWithBasicChallenge(parent: 'Project' | 'Group'): Refusals {
  return {
    anonymousAs: () => new Unauthorized(undefined, CHALLENGE),
    parentAs: ({ userId }: Viewer) => (userId === null ? new Unauthorized(undefined, CHALLENGE) : new NotFound(parent)),
    hasReasonPhrase: true,
  };
}

/** Shared options of the routes of a registry in a project whose clients know Basic credentials. */
export const basicRegistry = { within: project(), refusals: BASIC_REFUSALS } as const;

/** Shared options of the routes of a registry in a group. Its statements leave out packages that the caller may not read. */
export const basicGroupRegistry = {
  within: group('id', 'copy'),
  may: anyone(),
  refusals: refusalsWithBasicChallenge('Group'),
} as const;
