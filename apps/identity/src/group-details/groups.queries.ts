import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { customAttributesSql } from '../custom-attributes/custom-attributes-sql';
import { sharedWithGroupsSql } from '../invited-groups/shared-with-groups-sql';
import type { SharedGroupRow } from './group-row';

/** Columns of a group `n` as its row has them. */
export const GROUP_COLUMNS = `n.id, n.kind, n.owner_id, n.parent_id, n.traversal_ids, n.name, n.path, n.full_name, n.full_path, n.description,
  n.visibility, n.avatar_url, n.emails_enabled, n.plan, n.project_creation_level, n.subgroup_creation_level,
  n.request_access_enabled, n.settings, n.runners_token, n.marked_for_deletion_on, n.created_at, n.updated_at`;

/** Reads of single groups. Source: reference identity-and-import 2.3. */
@Injectable()
export class GroupsQueries {
  constructor(private readonly db: Database) {}

  /** One group, with the groups invited to it as far as the viewer may know of them; attributes on demand. */
  async one(viewer: Viewer, id: number, shows: { readonly attributes: boolean }): Promise<SharedGroupRow | null> {
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
