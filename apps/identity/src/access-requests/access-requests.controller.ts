import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { ability, created, Endpoint, none, page, signedIn, source } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import type { MemberRow } from '../member-lists/member-row';
import { memberSource } from '../member-lists/member-source';
import { mayManageMembers } from '../members/member.policy';
import { member } from '../member-lists/member.presenter';
import type { AccessRequestRow } from './access-request-row';
import { accessRequest } from './access-request.presenter';
import { AccessRequestParams, AccessRequestsParams, ApproveAccessRequestParams } from './access-requests.dto';
import { AccessRequests } from './access-requests.service';

const SOURCE = 'reference identity-and-import 2.8';
type Scope = ProjectScope | GroupScope;
type RequestCall<P> = Call<P, Scope, SignedInViewer>;

const manages = <P extends object>() =>
  ability<P, Scope>('member.manage', (call) => mayManageMembers(call.viewer, memberSource(call.within)), {
    signedIn: true,
  });
const managesOrAsked = ability<AccessRequestParams, Scope>(
  'access_request.drop',
  (call) => call.viewer.userId === call.params.user_id || mayManageMembers(call.viewer, memberSource(call.within)),
  { signedIn: true },
);

/** The same routes below groups and below projects. */
function accessRequestsBelow(kind: 'group' | 'project') {
  const base = `/${kind}s/:id/access_requests`;
  const within = source(kind);

  @Controller()
  class AccessRequestsController {
    constructor(readonly requests: AccessRequests) {}

    @Endpoint('GET', base, {
      about: `Who asks to be let into a ${kind}.`,
      source: SOURCE,
      within,
      may: manages<AccessRequestsParams>(),
      params: AccessRequestsParams,
      answers: page(accessRequest),
    })
    list({ within, page }: RequestCall<AccessRequestsParams>): Promise<Page<AccessRequestRow>> {
      return this.requests.page(memberSource(within), page);
    }

    @Endpoint('POST', base, {
      about: `Asks to be let into a ${kind}.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: AccessRequestsParams,
      fails: [400, 403],
      answers: created(accessRequest),
    })
    ask({ viewer, within }: RequestCall<AccessRequestsParams>): Promise<AccessRequestRow> {
      return this.requests.ask(viewer, memberSource(within));
    }

    @Endpoint('PUT', `${base}/:user_id/approve`, {
      about: `Lets somebody who asked into a ${kind}.`,
      source: SOURCE,
      within,
      may: manages<ApproveAccessRequestParams>(),
      params: ApproveAccessRequestParams,
      fails: [400, 403, 404, 409],
      answers: created(member),
    })
    approve({ viewer, within, params }: RequestCall<ApproveAccessRequestParams>): Promise<MemberRow> {
      return this.requests.approve(viewer, memberSource(within), params.user_id, params.access_level);
    }

    @Endpoint('DELETE', `${base}/:user_id`, {
      about: `Denies a request to be let into a ${kind}; who asked may withdraw.`,
      source: SOURCE,
      within,
      may: managesOrAsked,
      params: AccessRequestParams,
      fails: [403, 404],
      answers: none(),
    })
    drop({ within, params }: RequestCall<AccessRequestParams>): Promise<void> {
      return this.requests.drop(memberSource(within), params.user_id);
    }
  }
  return AccessRequestsController;
}

export const GroupAccessRequestsController = accessRequestsBelow('group');
export const ProjectAccessRequestsController = accessRequestsBelow('project');
