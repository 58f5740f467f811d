import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  group as inGroup,
  noContent,
  SCOPE_RESOLVER,
  signedIn,
} from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { mayAdministerGroup } from '../../namespaces/group.policy';
import { groupDetail } from '../details/group.presenter';
import { GroupsQueries } from '../details/groups.queries';
import type { GroupDetailRow } from '../details/groups.queries';
import type { ShareSource } from '../../members/sharing/share.policy';
import { CreateShare, RemoveShare } from '../../members/members.dto';
import { SharesService } from '../../members/sharing/shares.service';

const SOURCE = 'reference identity-and-import 2.6';

/**
 * Groups invited to a group. For callers who are not owners the API answers inconsistently, and clients rely on it.
 * Source: ADR 0003.
 */
@Controller()
export class GroupSharesController {
  constructor(
    private readonly shares: SharesService,
    private readonly queries: GroupsQueries,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('POST', '/groups/:id/share', {
    about: 'Invites a group to a group. Answers 404 to callers who are not owners.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<CreateShare, GroupScope>('group.share', (call) => mayAdministerGroup(call.viewer, call.within), {
      signedIn: true,
    }),
    refusals: { forbiddenAs: () => new NotFound('Not Found', { verbatim: true }) },
    params: CreateShare,
    fails: [400, 403, 404, 409],
    answers: created(groupDetail),
  })
  async share({ viewer, within, params }: Call<CreateShare, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const invited = await this.scopes.findGroup(params.group_id, viewer);
    if (!invited) throw new NotFound('Group');
    await this.shares.share(viewer, toShareSource(within), invited.id, params);
    return this.queries.findDetails(within, viewer, { secrets: false, projects: false });
  }

  @Endpoint('DELETE', '/groups/:id/share/:group_id', {
    about: 'Removes the invitation of a group. Answers 204 without effect to callers who do not own the group.',
    source: SOURCE,
    within: inGroup('id'),
    may: signedIn(),
    params: RemoveShare,
    fails: [404, 412],
    answers: noContent(),
  })
  async unshare(call: Call<RemoveShare, GroupScope, SignedInViewer>): Promise<void> {
    const { viewer, within, params } = call;
    const isAllowed = mayAdministerGroup(viewer, within);
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.shares.unshare(viewer, toShareSource(within), params.group_id, { isAllowed, unchanged });
  }
}

function toShareSource({ id, level }: GroupScope): ShareSource {
  return { type: 'namespace', id, namespaceId: id, level };
}
