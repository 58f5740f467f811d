import { Controller } from '@nestjs/common';
import type { Call, GroupScope, KeysetPage } from '@rookery/api-v4';
import { anyone, Endpoint, group as inGroup, keysetPage, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { GroupListsQueries } from './group-lists.queries';
import { ListGroupsBelow, ListGroups } from './group-lists.dto';
import { listedGroup } from './listed-group.presenter';
import type { ListedGroupRow } from './listed-group-row';

const BY_NAME = { orderBy: ['name'], sort: ['asc'], offsetCapFor: 'Group', isAnonymousOnly: true } as const;

/** Lists of all groups and of subgroups. Source: reference identity-and-import 2.1, 2.2. */
@Controller()
export class GroupListsController {
  constructor(private readonly queries: GroupListsQueries) {}

  @Endpoint('GET', '/groups', {
    about: 'Lists groups: public ones for anonymous callers, their own ones for users, all for administrators.',
    source: 'requirements 2 §4 Groups',
    may: anyone(),
    params: ListGroups,
    answers: page(listedGroup, { keyset: BY_NAME }),
  })
  async list(call: Call<ListGroups>): Promise<Page<ListedGroupRow> | KeysetPage<ListedGroupRow>> {
    const { viewer, params, page, keyset } = call;
    if (!keyset) return this.queries.list(viewer, params, page);
    const rows = await this.queries.listAfter(viewer, params, keyset.perPage, keyset.cursor);
    return keysetPage(keyset.perPage, rows, ({ name, id }) => ({ cursor: { name, id } }));
  }

  @Endpoint('GET', '/groups/:id/subgroups', {
    about: 'Lists the direct subgroups.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: ListGroupsBelow,
    answers: page(listedGroup),
  })
  subgroups({ viewer, within, params, page }: Call<ListGroupsBelow, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.listChildren(viewer, within, params, page);
  }

  @Endpoint('GET', '/groups/:id/descendant_groups', {
    about: 'Lists the subgroups on all levels.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: anyone(),
    params: ListGroupsBelow,
    answers: page(listedGroup),
  })
  descendants({ viewer, within, params, page }: Call<ListGroupsBelow, GroupScope>): Promise<Page<ListedGroupRow>> {
    return this.queries.listDescendants(viewer, within, params, page);
  }
}
