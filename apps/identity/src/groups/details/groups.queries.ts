import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { customAttributesSql } from '../../custom-attributes/custom-attributes-sql';
import { mayAdministerGroup } from '../../namespaces/group.policy';
import type { NamespaceRecord } from '../../namespaces/namespace.entity';
import type { ProjectRow } from '../../projects/project-row';
import { ProjectsQueries } from '../../projects/projects.queries';
import type { SharedWithGroup } from '../../members/sharing/shared-with-groups-sql';
import { sharedWithGroupsSql } from '../../members/sharing/shared-with-groups-sql';

/** SQL: columns of a group `n`, as in the table. */
export const GROUP_COLUMNS = `n.id, n.kind, n.owner_id, n.parent_id, n.traversal_ids, n.name, n.path, n.full_name, n.full_path, n.description,
  n.visibility, n.avatar_url, n.emails_enabled, n.plan, n.project_creation_level, n.subgroup_creation_level,
  n.request_access_enabled, n.settings, n.runners_token, n.marked_for_deletion_on, n.created_at, n.updated_at`;

/** A group, as the statements of this wing read it. */
export interface GroupRow extends Omit<NamespaceRecord, 'marked_for_deletion_at'> {
  /** Only if an administrator requested them. */
  readonly custom_attributes?: readonly CustomAttribute[];
}
type CustomAttribute = { readonly key: string; readonly value: string };

/** A group with the groups invited to it. */
export interface SharedGroupRow extends GroupRow {
  readonly shared_with_groups: readonly SharedWithGroup[];
}

/** A group as a single answer. `projects` are present only if they were requested. */
export interface GroupDetailRow extends SharedGroupRow {
  /** Whether the caller may administer the group. */
  readonly is_administered: boolean;
  /** Whether the caller may administer the group and this kind of answer contains secrets. */
  readonly shows_secrets: boolean;
  readonly projects?: readonly ProjectRow[];
  readonly shared_projects?: readonly ProjectRow[];
}

/** Reads of single groups. Source: reference identity-and-import 2.3. */
@Injectable()
export class GroupsQueries {
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectsQueries,
  ) {}

  /** Returns a group as this caller may see it. Errors: NotFound. */
  async findDetails(
    group: { readonly id: number; readonly level: number },
    viewer: Viewer,
    shows: { readonly secrets: boolean; readonly projects: boolean; readonly attributes?: boolean },
  ): Promise<GroupDetailRow> {
    const [row, own, invited] = await Promise.all([
      this.findGroup(viewer, group.id, { attributes: viewer.isAdmin && shows.attributes === true }),
      shows.projects ? this.projects.ofGroup(viewer, group.id) : undefined,
      shows.projects ? this.projects.sharedInto(viewer, group.id) : undefined,
    ]);
    if (!row) throw new NotFound('Group');
    const isAdministered = mayAdministerGroup(viewer, group);
    return {
      ...row,
      is_administered: isAdministered,
      shows_secrets: shows.secrets && isAdministered,
      ...(own && invited ? { projects: own, shared_projects: invited } : {}),
    };
  }

  /** Reads a group with those invited groups that the viewer can see; with attributes on request. */
  private async findGroup(
    viewer: Viewer,
    id: number,
    shows: { readonly attributes: boolean },
  ): Promise<SharedGroupRow | null> {
    const shared = sharedWithGroupsSql(viewer, { source: 'namespace', id: 'n.id', user: '$2::bigint' });
    const attributes = shows.attributes ? `, ${customAttributesSql('group', 'n.id')} as custom_attributes` : '';
    const rows = await this.db.query<SharedGroupRow>(
      `select ${GROUP_COLUMNS}, ${shared} as shared_with_groups${attributes} from namespaces n, (select $2::bigint) viewer
       where n.id = $1 and n.kind = 'group'`,
      [id, viewer.userId],
    );
    return rows[0] ?? null;
  }
}
