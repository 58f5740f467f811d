import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import { ability, created, Endpoint, group as inGroup, page, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { GroupDetails } from '../group-details/group-details';
import { mayAdministerGroup } from '../group-details/group.policy';
import { groupDetail } from '../group-details/group.presenter';
import type { GroupDetailRow } from '../group-details/group-row';
import { TransferGroupParams, TransferLocationsParams } from './group-moves.dto';
import { GroupMoves } from './group-moves.service';
import { transferLocation } from './transfer-location.presenter';
import { TransferLocations } from './transfer-locations.queries';
import type { TransferLocation } from './transfer-locations.queries';

const SOURCE = 'reference identity-and-import 2.6';

@Controller()
export class GroupMovesController {
  constructor(
    private readonly moves: GroupMoves,
    private readonly locations: TransferLocations,
    private readonly details: GroupDetails,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/groups/:id/transfer_locations', {
    about: 'Groups below which the caller may move this one.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<TransferLocationsParams, GroupScope>('group.see_transfer_locations', (call) =>
      mayAdministerGroup(call.viewer, call.within),
    ),
    params: TransferLocationsParams,
    answers: page(transferLocation),
  })
  list({ viewer, within, params, page }: Call<TransferLocationsParams, GroupScope>): Promise<Page<TransferLocation>> {
    return this.locations.page(viewer, within, params.search, page);
  }

  @Endpoint('POST', '/groups/:id/transfer', {
    about: 'Moves a group below another, or to the top level.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<TransferGroupParams, GroupScope>(
      'group.transfer',
      (call) => mayAdministerGroup(call.viewer, call.within),
      { signedIn: true },
    ),
    params: TransferGroupParams,
    fails: [400, 404],
    answers: created(groupDetail),
  })
  async transfer(call: Call<TransferGroupParams, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const { viewer, within, params } = call;
    const wanted = params.group_id ?? null;
    const target = wanted === null ? null : await this.scopes.group(wanted, viewer);
    if (wanted !== null && target === null) throw new NotFound('Group');
    await this.moves.move(viewer, within.id, target);
    return this.details.of(within, viewer, { secrets: false, projects: false });
  }
}
