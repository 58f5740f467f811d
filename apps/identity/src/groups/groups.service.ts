import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { memberAdded } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, Invalid, NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { Avatars } from '../avatars/avatars.service';
import { ChangeLog } from '../directory/change-log';
import { identitySettings } from '../identity.config';
import { problemsByField, TAKEN } from '../paths/path-rules';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { mayCreateSubgroup, mayCreateTopLevelGroup } from '../group-details/group.policy';
import { inspected, problemsOfGroup, problemsOfTexts } from './group-rules';
import { settingsFrom } from '../group-settings/group-settings';
import type { GroupColumns, KnownGroup, NewGroup } from './group-input';
import { Namespace } from '../group-settings/namespace.entity';

type Parent = Pick<
  Namespace,
  'id' | 'traversal_ids' | 'full_path' | 'full_name' | 'visibility' | 'plan' | 'subgroup_creation_level'
>;

/** Making groups. Source: reference identity-and-import 2.5. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
    private readonly avatars: Avatars,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Shape: `parent` is the scope of `parent_id`, null at the top level. Errors: Forbidden; Refused with the whole text of the API. */
  async create(viewer: SignedInViewer, params: NewGroup, parent: KnownGroup | null): Promise<number> {
    if (params.organization_id !== undefined && params.organization_id !== 1) throw new NotFound('Organization');
    try {
      return await this.work.run((tx) => this.insert(tx, viewer, params, parent));
    } catch (error) {
      const fields = error instanceof Invalid ? error.fields : takenFields(error);
      throw fields ? new Refused(`Failed to save group ${inspected(fields)}`, { verbatim: true }) : error;
    }
  }

  private async insert(tx: Tx, viewer: SignedInViewer, params: NewGroup, scope: KnownGroup | null): Promise<number> {
    const parent = scope === null ? null : await this.lockedParent(tx, scope.id);
    await this.mayCreate(tx, viewer, scope, parent);
    const visibility = params.visibility ?? this.defaultVisibility(parent);
    const problems = {
      ...problemsOfGroup({ ...params, visibility }, parent),
      ...problemsOfTexts(params),
      ...problemsByField({ avatar: this.avatars.problemsOf(params.avatar) }),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const [{ id }] = (await tx.query(`select nextval(pg_get_serial_sequence('namespaces', 'id')) as id`)) as [
      { id: number },
    ];
    await tx.manager.insert(Namespace, {
      ...columnsOf(params, viewer),
      avatar_url: (await this.avatars.change(tx, 'group', id, params.avatar)) ?? null,
      id,
      kind: 'group',
      parent_id: parent?.id ?? null,
      traversal_ids: [...(parent?.traversal_ids ?? []), id],
      name: params.name,
      path: params.path,
      full_name: parent ? `${parent.full_name} / ${params.name}` : params.name,
      full_path: parent ? `${parent.full_path}/${params.path}` : params.path,
      visibility,
      plan: parent?.plan ?? this.settings.defaultPlan,
      runners_token: `GR1348941${randomBytes(15).toString('base64url')}`,
    });
    if (!(await this.paths.take(tx, parent?.id ?? null, params.path, { namespaceId: id }))) {
      throw new Invalid({ path: [TAKEN] });
    }
    await this.paths.endRedirect(tx, parent ? `${parent.full_path}/${params.path}` : params.path);
    this.log.record(tx, 'namespace', id);
    if ((scope?.level ?? 0) < ACCESS_LEVELS.owner) await this.addOwner(tx, viewer.userId, id);
    return id;
  }

  /** Locked against changes of its place and visibility, not against other children. */
  private async lockedParent(tx: Tx, id: number): Promise<Parent> {
    const [parent] = await tx.query<Parent>(
      `select id, traversal_ids, full_path, full_name, visibility, plan, subgroup_creation_level
       from namespaces where id = $1 for share`,
      [id],
    );
    if (!parent) throw new NotFound('Group');
    return parent;
  }

  private async mayCreate(
    tx: Tx,
    viewer: SignedInViewer,
    scope: KnownGroup | null,
    parent: Parent | null,
  ): Promise<void> {
    if (scope && parent) {
      if (!mayCreateSubgroup(viewer, scope.level, parent.subgroup_creation_level)) throw new Forbidden();
      return;
    }
    const [user] = await tx.query<{ can_create_group: boolean }>(`select can_create_group from users where id = $1`, [
      viewer.userId,
    ]);
    if (!user || !mayCreateTopLevelGroup(viewer, user)) throw new Forbidden();
  }

  private defaultVisibility(parent: Parent | null) {
    const wanted = this.settings.groupVisibility;
    const rank = ['private', 'internal', 'public'];
    return parent && rank.indexOf(parent.visibility) < rank.indexOf(wanted) ? parent.visibility : wanted;
  }

  private async addOwner(tx: Tx, userId: number, groupId: number): Promise<void> {
    const [member] = (await tx.query(
      `insert into members (user_id, source_type, source_id, access_level, created_by_id)
       values ($1, 'namespace', $2, $3, $1) returning id, created_at`,
      [userId, groupId, ACCESS_LEVELS.owner],
    )) as [{ id: number; created_at: Date }];
    this.log.record(tx, 'membership', member.id);
    const added_at = member.created_at.toISOString();
    const data = { user_id: userId, source_type: 'group' as const, source_id: groupId, access_level: 50, added_at };
    tx.emit(memberAdded.of({ aggregateId: member.id, actorId: userId, data }));
  }
}

/** Two at once: the index refuses the later one in its own words. */
export function takenFields(error: unknown): Record<string, string[]> | null {
  if (violates(error, 'uq_namespaces_parent_id_name')) return { name: [TAKEN] };
  return violates(error, 'uq_namespaces_full_path') ? { path: [TAKEN] } : null;
}

/** Columns and settings among the sent fields. Minutes are the administrator's to give. */
export function columnsOf(params: object, viewer: { readonly isAdmin: boolean }): Partial<Namespace> {
  const sent = params as GroupColumns & Record<string, unknown>;
  const settings = settingsFrom(sent);
  if (!viewer.isAdmin) {
    delete settings.shared_runners_minutes_limit;
    delete settings.extra_shared_runners_minutes_limit;
  }
  const emails = sent.emails_enabled ?? (sent.emails_disabled === undefined ? undefined : !sent.emails_disabled);
  return {
    settings,
    ...(sent.description === undefined ? {} : { description: sent.description ?? '' }),
    ...(emails === undefined ? {} : { emails_enabled: emails }),
    ...(sent.project_creation_level === undefined ? {} : { project_creation_level: sent.project_creation_level }),
    ...(sent.subgroup_creation_level === undefined ? {} : { subgroup_creation_level: sent.subgroup_creation_level }),
    ...(sent.request_access_enabled === undefined ? {} : { request_access_enabled: sent.request_access_enabled }),
  };
}
