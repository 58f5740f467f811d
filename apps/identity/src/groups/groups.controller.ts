import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import { ability, anyone, created, Endpoint, group as inGroup, one, SCOPE_RESOLVER, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { groupDetail } from './details/group.presenter';
import { GroupsQueries } from './details/groups.queries';
import type { GroupDetailRow } from './details/groups.queries';
import { mayAdministerGroup } from '../namespaces/group.policy';
import { GroupChangesService } from './group-changes.service';
import { CreateGroup, ShowGroup, UpdateGroup } from './groups.dto';
import { GroupsService } from './groups.service';

const abilityToAdministerGroup = <P extends object>() =>
  ability<P, GroupScope>('group.administer', (call) => mayAdministerGroup(call.viewer, call.within), {
    signedIn: true,
  });

const change = {
  about: 'Changes a group.',
  source: 'reference identity-and-import 2.6',
  within: inGroup('id'),
  may: abilityToAdministerGroup<UpdateGroup>(),
  params: UpdateGroup,
  answers: one(groupDetail),
} as const;

@Controller()
export class GroupsController {
  constructor(
    private readonly groups: GroupsService,
    private readonly changes: GroupChangesService,
    private readonly queries: GroupsQueries,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/groups/:id', {
    about: 'Returns a group, with its projects unless `with_projects` is false.',
    source: 'requirements 2 §4 Groups',
    within: inGroup('id'),
    may: anyone(),
    params: ShowGroup,
    answers: one(groupDetail),
  })
  show(call: Call<ShowGroup, GroupScope>): Promise<GroupDetailRow> {
    const { with_projects, with_custom_attributes } = call.params;
    const shows = { secrets: true, projects: with_projects, attributes: with_custom_attributes };
    return this.queries.findDetails(call.within, call.viewer, shows);
  }

  @Endpoint('POST', '/groups', {
    about: 'Creates a group at the top level or below another one.',
    source: 'reference identity-and-import 2.5',
    may: signedIn(),
    params: CreateGroup,
    fails: [403, 404],
    answers: created(groupDetail),
  })
  async create({ viewer, params }: Call<CreateGroup, undefined, SignedInViewer>): Promise<GroupDetailRow> {
    const parent = params.parent_id === undefined ? null : await this.scopes.findGroup(params.parent_id, viewer);
    if (parent === null && params.parent_id !== undefined) throw new NotFound('Group');
    const id = await this.groups.create(viewer, params, parent);
    // The creator owns the new group, directly or through a group above.
    const made = { id, level: ACCESS_LEVELS.owner };
    return this.queries.findDetails(made, viewer, { secrets: false, projects: false });
  }

  // One client library posts to the group when an avatar is sent, or uses a separate route for it. Source: reference
  // identity-and-import 2.6.
  @Endpoint('POST', '/groups/:id', { ...change, deprecated: 'PUT /groups/:id' })
  @Endpoint('PUT', '/groups/:id', { ...change, aliases: ['/groups/:id/avatar'] })
  async update(call: Call<UpdateGroup, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    await this.changes.update(call.viewer, call.within.id, call.params);
    return this.queries.findDetails(call.within, call.viewer, { secrets: true, projects: true });
  }
}
