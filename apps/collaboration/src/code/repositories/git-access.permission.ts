import { ability } from '@rookery/api-v4';
import type { Permission, ProjectScope } from '@rookery/api-v4';
import { isSignedIn, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { checkGit, gitRefusal } from './code-access.policy';
import type { GitService } from './code-access.policy';

interface ServiceParams {
  readonly service?: string;
}

/** Permits requests of git clients for one service. */
export function usesGit(service: GitService): Permission<unknown, ProjectScope, Viewer> {
  return ability(`repository.${service}`, ({ viewer, within }) => checkGit(viewer, within, service), {
    anonymous: 'asked',
  });
}

/** Permits requests for the service that the parameter `service` names. */
export const usesNamedGit: Permission<ServiceParams, ProjectScope, Viewer> = ability(
  'repository.info-refs',
  ({ viewer, within, params }) => {
    const { service } = params;
    if (service === 'git-upload-pack' || service === 'git-receive-pack') return checkGit(viewer, within, service);
    // Only a download may be anonymous.
    if (!isSignedIn(viewer)) throw new Unauthorized();
    throw gitRefusal("The command you're trying to execute is not allowed.");
  },
);
