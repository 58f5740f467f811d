import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, Invalid, NotFound, keepFieldsWithProblems, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { isTooLongForIndex, violatesConstraint, Work } from '@rookery/persistence';
import { AvatarsService } from '../avatars/avatars.service';
import { formatProblemsAsRubyHash, TAKEN, TOO_LONG_WITH_PARENTS } from '../namespaces/paths/path-rules';
import { NamespacesService } from '../namespaces/namespaces.service';
import { MembershipsService } from '../members/memberships.service';
import { mayCreateSubgroup, mayCreateTopLevelGroup } from '../namespaces/group.policy';
import { splitGroupChange, problemsOfGroup } from './group-rules';
import type { GroupParts } from './group-rules';
import type { GroupWithLevel, NewGroup } from './group-input';
import { isGroupReadOnlySql } from '../directory/change-states';
import type { NamespaceRecord } from '../namespaces/namespace.entity';

type ParentGroupRow = Pick<
  NamespaceRecord,
  'id' | 'traversal_ids' | 'full_path' | 'full_name' | 'visibility' | 'plan' | 'subgroup_creation_level'
> & { readonly archived: boolean };

type NewGroupParts = GroupParts & { readonly name: string; readonly path: string };

/** Creation of groups. Source: reference identity-and-import 2.5. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly work: Work,
    private readonly namespaces: NamespacesService,
    private readonly memberships: MembershipsService,
    private readonly avatars: AvatarsService,
    private readonly instance: InstanceSettings,
  ) {}

  /**
   * Creates a group and returns its id. `parent` is the scope of `parent_id`, or null for a top-level group. Errors:
   * Forbidden; Refused with the whole text of the API.
   */
  async create(viewer: SignedInViewer, params: NewGroup, parent: GroupWithLevel | null): Promise<number> {
    const { organization_id: organization = 1, ...sent } = params;
    if (organization !== 1) throw new NotFound('Organization');
    const { name, path } = sent;
    try {
      return await this.work.run((tx) =>
        this.insertGroup(tx, viewer, { name, path, ...splitGroupChange(viewer, sent) }, parent),
      );
    } catch (error) {
      const fields = error instanceof Invalid ? error.fields : groupFieldProblemsOf(error);
      throw fields
        ? new Refused(`Failed to save group ${formatProblemsAsRubyHash(fields)}`, { verbatim: true })
        : error;
    }
  }

  private async insertGroup(
    tx: Tx,
    viewer: SignedInViewer,
    group: NewGroupParts,
    scope: GroupWithLevel | null,
  ): Promise<number> {
    const { name, path, avatar, stored } = group;
    const parent = scope === null ? null : await this.lockParentGroup(tx, scope.id);
    await this.checkMayCreateGroup(tx, viewer, scope, parent);
    const visibility = group.shape.visibility ?? this.chooseDefaultVisibility(parent);
    const problems = {
      ...problemsOfGroup({ ...group.shape, name, path, visibility }, parent),
      ...group.problems,
      ...keepFieldsWithProblems({ avatar: this.avatars.findProblems(avatar) }),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const id = await this.namespaces.nextId(tx);
    const draft = {
      ...stored,
      avatarUrl: (await this.avatars.changeAvatar(tx, 'group', id, avatar)) ?? null,
      id,
      kind: 'group' as const,
      name,
      path,
      visibility,
      runnersToken: `GR1348941${randomBytes(15).toString('base64url')}`,
    };
    if (!(await this.namespaces.insertNamespace(tx, draft, parent))) throw new Invalid({ path: [TAKEN] });
    if ((scope?.level ?? 0) < ACCESS_LEVELS.owner) {
      const owner = { userId: viewer.userId, level: ACCESS_LEVELS.owner, actorId: viewer.userId };
      await this.memberships.addMember(tx, { ...owner, source: { kind: 'group', id } });
    }
    return id;
  }

  /** Locks the parent against changes of location and visibility, but not against other new children. */
  private async lockParentGroup(tx: Tx, id: number): Promise<ParentGroupRow> {
    const [parent] = await tx.query<ParentGroupRow>(
      `select n.id, n.traversal_ids, n.full_path, n.full_name, n.visibility, n.plan, n.subgroup_creation_level,
         ${isGroupReadOnlySql('n')} as archived
       from namespaces n where n.id = $1 for share of n`,
      [id],
    );
    if (!parent) throw new NotFound('Group');
    return parent;
  }

  private async checkMayCreateGroup(
    tx: Tx,
    viewer: SignedInViewer,
    scope: GroupWithLevel | null,
    parent: ParentGroupRow | null,
  ): Promise<void> {
    if (scope && parent) {
      if (parent.archived || !mayCreateSubgroup(viewer, scope.level, parent.subgroup_creation_level))
        throw new Forbidden();
      return;
    }
    const [user] = await tx.query<{ can_create_group: boolean }>(`select can_create_group from users where id = $1`, [
      viewer.userId,
    ]);
    if (!user || !mayCreateTopLevelGroup(viewer, user)) throw new Forbidden();
  }

  private chooseDefaultVisibility(parent: ParentGroupRow | null) {
    const wanted = this.instance.setting('default_group_visibility');
    const rank = ['private', 'internal', 'public'];
    return parent && rank.indexOf(parent.visibility) < rank.indexOf(wanted) ? parent.visibility : wanted;
  }
}

/**
 * Converts failures that only the database finds to problems by field: a unique violation of a concurrent creation, and
 * the full path of a subgroup or project that is too long once the tree above has moved or has another name.
 */
export function groupFieldProblemsOf(error: unknown): Record<string, string[]> | null {
  if (isTooLongForIndex(error)) return { path: [TOO_LONG_WITH_PARENTS] };
  if (violatesConstraint(error, 'uq_namespaces_parent_id_name')) return { name: [TAKEN] };
  return violatesConstraint(error, 'uq_namespaces_full_path') ? { path: [TAKEN] } : null;
}
