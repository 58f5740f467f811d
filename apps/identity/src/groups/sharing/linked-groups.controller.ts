import { ListAnyGroups } from '../listing/group-lists.dto';
import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { anyone, Endpoint, group as inGroup, IdOrPath, ListOf, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { LinkedGroupsQueries } from './linked-groups.queries';
import { listedGroup } from '../listing/listed-group.presenter';
import type { ListedGroupRow } from '../listing/listed-group-row';

export class ListSharedGroups extends ListAnyGroups {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class ListInvitedGroups extends ListSharedGroups {
  @ListOf({ oneOf: ['direct', 'inherited'] }, { optional: true, about: 'Invited to this group, or to one above it.' })
  relation?: ('direct' | 'inherited')[];
}

/** Groups linked by invitations, in both directions. Source: reference identity-and-import 2.1. */
@Controller()
export class LinkedGroupsController {
  constructor(private readonly queries: LinkedGroupsQueries) {}

  @Endpoint('GET', '/groups/:id/groups/shared', {
    about: 'Lists the groups that have invited this one.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: ListSharedGroups,
    answers: page(listedGroup),
  })
  shared({ viewer, within, params, page }: Call<ListSharedGroups, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.listInviting(viewer, within, params, page);
  }

  @Endpoint('GET', '/groups/:id/invited_groups', {
    about: 'Lists the groups that are invited to this one or to one above it.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: ListInvitedGroups,
    answers: page(listedGroup),
  })
  invited({ viewer, within, params, page }: Call<ListInvitedGroups, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.listInvited(viewer, within, params, page);
  }
}
