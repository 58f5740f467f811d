import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import {
  ability,
  created,
  Endpoint,
  group as inGroup,
  IdOrPath,
  Int,
  page,
  presenter,
  SCOPE_RESOLVER,
  Search,
} from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { mayAdministerGroup } from '../../namespaces/group.policy';
import { groupDetail } from '../details/group.presenter';
import { GroupsQueries } from '../details/groups.queries';
import type { GroupDetailRow } from '../details/groups.queries';
import { groupReference } from '../../namespaces/namespace.presenter';
import { GroupMovesService } from './group-moves.service';
import { TransferLocationsQueries } from './transfer-locations.queries';
import type { GroupReference } from '../../namespaces/namespace-row';

const SOURCE = 'reference identity-and-import 2.6';
const transferLocation = presenter<GroupReference>('GroupReference').fields(groupReference);

export class TransferGroup {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ optional: true, nullable: true, about: 'Id of the new parent. Default: the top level.' }) group_id?:
    | number
    | null;
}

export class ListTransferLocations {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Search({ about: 'Part of the name or path.' }) search?: string;
}

@Controller()
export class GroupMovesController {
  constructor(
    private readonly moves: GroupMovesService,
    private readonly locations: TransferLocationsQueries,
    private readonly queries: GroupsQueries,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/groups/:id/transfer_locations', {
    about: 'Lists the groups below which the caller may move this one.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<ListTransferLocations, GroupScope>('group.see_transfer_locations', (call) =>
      mayAdministerGroup(call.viewer, call.within),
    ),
    params: ListTransferLocations,
    answers: page(transferLocation),
  })
  list({ viewer, within, params, page }: Call<ListTransferLocations, GroupScope>): Promise<Page<GroupReference>> {
    return this.locations.list(viewer, within, params.search, page);
  }

  @Endpoint('POST', '/groups/:id/transfer', {
    about: 'Moves a group below another one or to the top level.',
    source: SOURCE,
    within: inGroup('id'),
    may: ability<TransferGroup, GroupScope>('group.transfer', (call) => mayAdministerGroup(call.viewer, call.within), {
      signedIn: true,
    }),
    params: TransferGroup,
    fails: [400, 404],
    answers: created(groupDetail),
  })
  async transfer(call: Call<TransferGroup, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const { viewer, within, params } = call;
    const wanted = params.group_id ?? null;
    const target = wanted === null ? null : await this.scopes.findGroup(wanted, viewer);
    if (wanted !== null && target === null) throw new NotFound('Group');
    await this.moves.moveGroup(viewer, within.id, target);
    return this.queries.findDetails(within, viewer, { secrets: false, projects: false });
  }
}
