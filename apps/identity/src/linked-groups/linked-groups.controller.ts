import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { anyone, Endpoint, group as inGroup, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { InvitedGroupsParams, SharedGroupsParams } from './linked-groups.dto';
import { LinkedGroupsQueries } from './linked-groups.queries';
import { listedGroup } from '../group-lists/listed-group.presenter';
import type { ListedGroupRow } from '../group-lists/listed-group-row';

/** Both sides of invitations between groups. Source: reference identity-and-import 2.1. */
@Controller()
export class LinkedGroupsController {
  constructor(private readonly queries: LinkedGroupsQueries) {}

  @Endpoint('GET', '/groups/:id/groups/shared', {
    about: 'The groups that invited this one.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: SharedGroupsParams,
    answers: page(listedGroup),
  })
  shared({ viewer, within, params, page }: Call<SharedGroupsParams, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.inviting(viewer, within, params, page);
  }

  @Endpoint('GET', '/groups/:id/invited_groups', {
    about: 'The groups that were invited into this one, or into one above it.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: InvitedGroupsParams,
    answers: page(listedGroup),
  })
  invited({ viewer, within, params, page }: Call<InvitedGroupsParams, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.invited(viewer, within, params, page);
  }
}
