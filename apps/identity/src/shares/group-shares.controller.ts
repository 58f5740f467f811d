import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  group as inGroup,
  none,
  SCOPE_RESOLVER,
  signedIn,
} from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { GroupDetails } from '../group-details/group-details';
import { mayAdministerGroup } from '../group-details/group.policy';
import { groupDetail } from '../group-details/group.presenter';
import type { GroupDetailRow } from '../group-details/group-row';
import type { ShareSource } from './share-row';
import { ShareParams, UnshareParams } from './shares.dto';
import { SharesService } from './shares.service';

const SOURCE = 'reference identity-and-import 2.6';

/** Groups invited to a group. Refusals of whoever does not own it are the confirmed odd ones. Source: decisions 16. */
@Controller()
export class GroupSharesController {
  constructor(
    private readonly shares: SharesService,
    private readonly details: GroupDetails,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('POST', '/groups/:id/share', {
    about: 'Invites a group to a group; not being an owner is told as 404.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<ShareParams, GroupScope>('group.share', (call) => mayAdministerGroup(call.viewer, call.within), {
      signedIn: true,
    }),
    refusals: { forbiddenAs: () => new NotFound('Not Found', { verbatim: true }) },
    params: ShareParams,
    fails: [400, 403, 404, 409],
    answers: created(groupDetail),
  })
  async share({ viewer, within, params }: Call<ShareParams, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const invited = await this.scopes.group(params.group_id, viewer);
    if (!invited) throw new NotFound('Group');
    await this.shares.share(viewer, sourceOf(within), invited.id, params);
    return this.details.of(within, viewer, { secrets: false, projects: false });
  }

  @Endpoint('DELETE', '/groups/:id/share/:group_id', {
    about: 'Ends the invitation of a group; 204 without effect for whoever does not own the group.',
    source: SOURCE,
    within: inGroup('id'),
    may: signedIn(),
    params: UnshareParams,
    fails: [404, 412],
    answers: none(),
  })
  async unshare(call: Call<UnshareParams, GroupScope, SignedInViewer>): Promise<void> {
    const { viewer, within, params } = call;
    const isAllowed = mayAdministerGroup(viewer, within);
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.shares.unshare(viewer, sourceOf(within), params.group_id, { isAllowed, unchanged });
  }
}

function sourceOf({ id, level }: GroupScope): ShareSource {
  return { type: 'namespace', id, namespaceId: id, level };
}
