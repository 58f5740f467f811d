import { ability } from '@rookery/api-v4';
import type { Call, Permission, ProjectScope, RuleServices } from '@rookery/api-v4';
import { isSignedIn, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { checkGitClientRequest, gitRefusal } from './code-access.policy';
import type { GitService } from './code-access.policy';
import { mayPushToSomeBranch } from './code.permission';

interface GitServiceParams {
  readonly service?: string;
}

/** Permits requests of git clients for one service. */
export function mayUseGitService(service: GitService): Permission<unknown, ProjectScope, Viewer> {
  return ability(`repository.${service}`, (call, services) => checkGitAccess(call, services, service), {
    anonymous: 'asked',
  });
}

/** Permits requests for the service that the parameter `service` names. */
export const usesNamedGit: Permission<GitServiceParams, ProjectScope, Viewer> = ability(
  'repository.info-refs',
  (call, services) => {
    const { service } = call.params;
    if (service === 'git-upload-pack' || service === 'git-receive-pack') return checkGitAccess(call, services, service);
    // Only a download may be anonymous.
    if (!isSignedIn(call.viewer)) throw new Unauthorized();
    throw gitRefusal("The command you're trying to execute is not allowed.");
  },
);

function checkGitAccess(call: Call<unknown, ProjectScope>, services: RuleServices, service: GitService): Promise<true> {
  return checkGitClientRequest(call.viewer, call.within, service, () => mayPushToSomeBranch(call, services));
}
