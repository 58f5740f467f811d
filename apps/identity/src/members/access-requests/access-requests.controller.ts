import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { ability, created, Endpoint, noContent, page, signedIn, projectOrGroup } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import type { MemberRow } from '../listing/members.queries';
import { memberSource } from '../listing/member-source';
import { mayManageMembers } from '../member.policy';
import { member, accessRequest } from '../member.presenter';
import type { AccessRequestRow } from './access-requests.service';
import { IdentifyAccessRequest, IdentifyGroupOrProject, ApproveAccessRequest } from '../members.dto';
import { AccessRequestsService } from './access-requests.service';

const SOURCE = 'reference identity-and-import 2.8';
type ProjectOrGroupScope = ProjectScope | GroupScope;
type RequestCall<P> = Call<P, ProjectOrGroupScope, SignedInViewer>;

const abilityToManageMembers = <P extends object>() =>
  ability<P, ProjectOrGroupScope>('member.manage', (call) => mayManageMembers(call.viewer, memberSource(call.within)), {
    signedIn: true,
  });
const abilityToDropRequest = ability<IdentifyAccessRequest, ProjectOrGroupScope>(
  'access_request.drop',
  (call) => call.viewer.userId === call.params.user_id || mayManageMembers(call.viewer, memberSource(call.within)),
  { signedIn: true },
);

/** Creates the controller with the access request routes of groups or of projects. */
function createAccessRequestsController(kind: 'group' | 'project') {
  const base = `/${kind}s/:id/access_requests`;
  const within = projectOrGroup(kind);
  const lockable = kind === 'project' ? [405] : [];

  @Controller()
  class AccessRequestsController {
    constructor(readonly requests: AccessRequestsService) {}

    @Endpoint('GET', base, {
      about: `Lists the open access requests of a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageMembers<IdentifyGroupOrProject>(),
      params: IdentifyGroupOrProject,
      answers: page(accessRequest),
    })
    list({ within, page }: RequestCall<IdentifyGroupOrProject>): Promise<Page<AccessRequestRow>> {
      return this.requests.list(memberSource(within), page);
    }

    @Endpoint('POST', base, {
      about: `Requests access to a ${kind} for the caller.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: IdentifyGroupOrProject,
      fails: [400, 403],
      answers: created(accessRequest),
    })
    create({ viewer, within }: RequestCall<IdentifyGroupOrProject>): Promise<AccessRequestRow> {
      return this.requests.create(viewer, memberSource(within));
    }

    @Endpoint('PUT', `${base}/:user_id/approve`, {
      about: `Approves an access request to a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageMembers<ApproveAccessRequest>(),
      params: ApproveAccessRequest,
      fails: [400, 403, 404, ...lockable, 409, 429],
      answers: created(member),
    })
    approve({ viewer, within, params }: RequestCall<ApproveAccessRequest>): Promise<MemberRow> {
      return this.requests.approve(viewer, memberSource(within), params.user_id, params.access_level);
    }

    @Endpoint('DELETE', `${base}/:user_id`, {
      about: `Denies an access request to a ${kind}. The requesting user may withdraw it.`,
      source: SOURCE,
      within,
      may: abilityToDropRequest,
      params: IdentifyAccessRequest,
      fails: [403, 404],
      answers: noContent(),
    })
    remove({ viewer, within, params }: RequestCall<IdentifyAccessRequest>): Promise<void> {
      return this.requests.remove(viewer, memberSource(within), params.user_id);
    }
  }
  return AccessRequestsController;
}

export const GroupAccessRequestsController = createAccessRequestsController('group');
export const ProjectAccessRequestsController = createAccessRequestsController('project');
