import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { accepted, ability, checkUnmodifiedSince, created, Endpoint, group as inGroup } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { GroupDetails } from '../group-details/group-details';
import { mayAdministerGroup } from '../group-details/group.policy';
import { groupDetail } from '../group-details/group.presenter';
import type { GroupDetailRow } from '../group-details/group-row';
import { DeleteGroupParams, GroupRefParams } from './group-states.dto';
import { GroupStates } from './group-states.service';

const administers = <P extends object>() =>
  ability<P, GroupScope>('group.administer', (call) => mayAdministerGroup(call.viewer, call.within), {
    signedIn: true,
  });

@Controller()
export class GroupStatesController {
  constructor(
    private readonly states: GroupStates,
    private readonly details: GroupDetails,
  ) {}

  @Endpoint('DELETE', '/groups/:id', {
    about: 'Marks a group for deletion, or removes a marked one at once.',
    source: 'reference identity-and-import 2.6',
    within: inGroup('id'),
    may: administers<DeleteGroupParams>(),
    params: DeleteGroupParams,
    fails: [400, 412],
    answers: accepted(),
  })
  async remove(call: Call<DeleteGroupParams, GroupScope, SignedInViewer>): Promise<void> {
    await this.states.remove(call.viewer, call.within.id, call.params, (at) => checkUnmodifiedSince(call, at));
  }

  @Endpoint('POST', '/groups/:id/restore', {
    about: 'Takes the mark for deletion away.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: administers<GroupRefParams>(),
    params: GroupRefParams,
    answers: created(groupDetail),
  })
  async restore({ viewer, within }: Call<GroupRefParams, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    await this.states.restore(within.id);
    return this.details.of(within, viewer, { secrets: false, projects: false });
  }
}
