import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  noContent,
  one,
  page,
  signedIn,
  projectOrGroup,
} from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { addedMember, member } from './member.presenter';
import type { Added } from './member.presenter';
import type { MemberRow } from './listing/members.queries';
import { mayManageMembers } from './member.policy';
import { memberSource } from './listing/member-source';
import { CreateMember, ListAllMembers, ListMembers, IdentifyMember, RemoveMember, UpdateMember } from './members.dto';
import { MembersQueries } from './listing/members.queries';
import { MembersService } from './members.service';
import { NewMembersService } from './new-members.service';
import { parseUserReferences } from './listing/user-reference';
import type { UserReference } from './listing/user-reference';

const SOURCE = 'reference identity-and-import 2.8';
type ProjectOrGroupScope = ProjectScope | GroupScope;
type MemberCall<P> = Call<P, ProjectOrGroupScope, SignedInViewer>;

const abilityToManageMembers = <P extends object>() =>
  ability<P, ProjectOrGroupScope>('member.manage', (call) => mayManageMembers(call.viewer, memberSource(call.within)), {
    signedIn: true,
  });
const abilityToRemoveMember = ability<RemoveMember, ProjectOrGroupScope>(
  'member.remove',
  (call) => call.viewer.userId === call.params.user_id || mayManageMembers(call.viewer, memberSource(call.within)),
  { signedIn: true },
);

/** Creates the controller with the member routes of groups or of projects. */
function createMembersController(kind: 'group' | 'project') {
  const base = `/${kind}s/:id/members`;
  const within = projectOrGroup(kind);
  const lockable = kind === 'project' ? [405] : [];

  @Controller()
  class MembersController {
    constructor(
      readonly members: MembersService,
      readonly newMembers: NewMembersService,
      readonly queries: MembersQueries,
    ) {}

    @Endpoint('GET', base, {
      about: `Lists the direct members of a ${kind}.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: ListMembers,
      answers: page(member),
    })
    list({ viewer, within, params, page }: MemberCall<ListMembers>): Promise<Page<MemberRow>> {
      return this.queries.listDirect(viewer, memberSource(within), params, page);
    }

    @Endpoint('GET', `${base}/all`, {
      about: `Lists all users with a level in a ${kind}, with the highest level of each.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: ListAllMembers,
      answers: page(member),
    })
    all({ viewer, within, params, page }: MemberCall<ListAllMembers>): Promise<Page<MemberRow>> {
      return this.queries.listAll(viewer, memberSource(within), params, page);
    }

    @Endpoint('GET', `${base}/all/:user_id`, {
      about: `Returns a user with the highest level in a ${kind}.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: IdentifyMember,
      answers: one(member),
    })
    async oneOfAll({ viewer, within, params }: MemberCall<IdentifyMember>): Promise<MemberRow> {
      return requireMember(await this.queries.oneOfAll(viewer, memberSource(within), params.user_id));
    }

    @Endpoint('GET', `${base}/:user_id`, {
      about: `Returns a direct member of a ${kind}.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: IdentifyMember,
      answers: one(member),
    })
    async show({ within, params }: MemberCall<IdentifyMember>): Promise<MemberRow> {
      return requireMember(await this.queries.findMember(memberSource(within), params.user_id));
    }

    @Endpoint('POST', base, {
      about: `Adds one or several members to a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageMembers<CreateMember>(),
      params: CreateMember,
      fails: [403, 404, ...lockable, 409, 429],
      answers: created(addedMember),
    })
    async create({ viewer, within, params }: MemberCall<CreateMember>): Promise<Added> {
      const people = parseUserReferences(params);
      const [first] = people as [UserReference];
      if (people.length === 1)
        return { member: await this.newMembers.addMember(viewer, memberSource(within), first, params) };
      await this.newMembers.addSeveral(viewer, memberSource(within), people, params);
      return {};
    }

    @Endpoint('PUT', `${base}/:user_id`, {
      about: `Changes the level of a direct member of a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageMembers<UpdateMember>(),
      params: UpdateMember,
      fails: [403, 404],
      answers: one(member),
    })
    update({ viewer, within, params }: MemberCall<UpdateMember>): Promise<MemberRow> {
      return this.members.update(viewer, memberSource(within), params.user_id, params);
    }

    @Endpoint('DELETE', `${base}/:user_id`, {
      about: `Removes a direct member of a ${kind}. All members may remove themselves.`,
      source: SOURCE,
      within,
      may: abilityToRemoveMember,
      params: RemoveMember,
      fails: [403, 404, 412],
      answers: noContent(),
    })
    async remove(call: MemberCall<RemoveMember>): Promise<void> {
      const { viewer, within, params } = call;
      const how = { keepBelow: params.skip_subresources, unassigns: params.unassign_issuables };
      const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
      await this.members.remove(viewer, memberSource(within), params.user_id, { ...how, unchanged });
    }
  }
  return MembersController;
}

function requireMember(row: MemberRow | null): MemberRow {
  if (!row) throw new NotFound();
  return row;
}

export const GroupMembersController = createMembersController('group');
export const ProjectMembersController = createMembersController('project');
