import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { accepted, ability, checkUnmodifiedSince, created, Endpoint, group as inGroup } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { mayAdministerGroup } from '../../namespaces/group.policy';
import { groupDetail } from '../../groups/details/group.presenter';
import { GroupsQueries } from '../../groups/details/groups.queries';
import type { GroupDetailRow } from '../../groups/details/groups.queries';
import { RemoveGroup, IdentifyGroup } from '../removal.dto';
import { GroupStatesService } from './group-states.service';

const abilityToAdministerGroup = <P extends object>() =>
  ability<P, GroupScope>('group.administer', (call) => mayAdministerGroup(call.viewer, call.within), {
    signedIn: true,
  });

@Controller()
export class GroupStatesController {
  constructor(
    private readonly states: GroupStatesService,
    private readonly queries: GroupsQueries,
  ) {}

  @Endpoint('DELETE', '/groups/:id', {
    about: 'Marks a group for deletion, or removes a marked one at once.',
    source: 'reference identity-and-import 2.6',
    within: inGroup('id'),
    may: abilityToAdministerGroup<RemoveGroup>(),
    params: RemoveGroup,
    fails: [400, 412],
    answers: accepted(),
  })
  async remove(call: Call<RemoveGroup, GroupScope, SignedInViewer>): Promise<void> {
    await this.states.remove(call.viewer, call.within.id, call.params, (at) => checkUnmodifiedSince(call, at));
  }

  @Endpoint('POST', '/groups/:id/restore', {
    about: 'Removes the mark for deletion.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: abilityToAdministerGroup<IdentifyGroup>(),
    params: IdentifyGroup,
    answers: created(groupDetail),
  })
  async restore({ viewer, within }: Call<IdentifyGroup, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    await this.states.restore(within.id);
    return this.queries.findDetails(within, viewer, { secrets: false, projects: false });
  }
}
