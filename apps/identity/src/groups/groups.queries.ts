import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { customAttributesSql } from '../custom-attributes/custom-attributes-sql';
import { containing, ListStatement } from '../listing/list-statement';
import { reachedTreeSql } from '../scope/reach-sql';
import { sharedWithGroupsSql } from '../shares/shared-with-groups-sql';
import type { GroupFilters } from './group-input';
import type { GroupRow, SharedGroupRow } from './group-row';

const SHOWN = `n.id, n.kind, n.owner_id, n.parent_id, n.traversal_ids, n.name, n.path, n.full_name, n.full_path, n.description,
  n.visibility, n.avatar_url, n.emails_enabled, n.plan, n.project_creation_level, n.subgroup_creation_level,
  n.request_access_enabled, n.settings, n.runners_token, n.marked_for_deletion_on, n.created_at, n.updated_at`;

/** Reads of groups, with visibility inside the statements. Source: reference identity-and-import 2.2. */
@Injectable()
export class GroupsQueries {
  constructor(private readonly db: Database) {}

  page(viewer: Viewer, params: GroupFilters, parentId: number | null, request: PageRequest): Promise<Page<GroupRow>> {
    const statement = this.statement(viewer, params, parentId);
    return statement.page<GroupRow>(this.db, list(orderOf(statement, params)), request);
  }

  /** For anonymous callers: by name, then id, from the place after the cursor on; one row more than asked for. */
  after(
    viewer: Viewer,
    params: GroupFilters,
    perPage: number,
    cursor: Readonly<Record<string, unknown>> | null,
  ): Promise<GroupRow[]> {
    const statement = this.statement(viewer, params, null);
    if (cursor !== null) {
      const at = `${statement.bind(cursor['name'])}, ${statement.bind(cursor['id'])}::bigint`;
      statement.filter(`(n.name, n.id) > (${at})`);
    }
    return statement.rows<GroupRow>(this.db, list('n.name asc, n.id asc'), perPage);
  }

  /** One group, with the groups invited to it as far as the viewer may know of them; attributes on demand. */
  async one(viewer: Viewer, id: number, shows: { readonly attributes: boolean }): Promise<SharedGroupRow | null> {
    const shared = sharedWithGroupsSql(viewer, { source: 'namespace', id: 'n.id', user: '$2::bigint' });
    const attributes = shows.attributes ? `, ${customAttributesSql('group', 'n.id')} as custom_attributes` : '';
    const rows = await this.db.query<SharedGroupRow>(
      `select ${SHOWN}, ${shared} as shared_with_groups${attributes} from namespaces n, (select $2::bigint) viewer
       where n.id = $1 and n.kind = 'group'`,
      [id, viewer.userId],
    );
    return rows[0] ?? null;
  }

  private statement(viewer: Viewer, params: GroupFilters, parentId: number | null): ListStatement {
    const statement = new ListStatement().where(`n.kind = 'group'`);
    if (parentId !== null) statement.where(`n.parent_id = ${statement.bind(parentId)}`);
    seen(statement, viewer, params);
    if (params.top_level_only) statement.filter('n.parent_id is null');
    if (params.skip_groups?.length) statement.filter(`n.id <> all(${statement.bind(params.skip_groups)}::bigint[])`);
    if (params.visibility) statement.filter(`n.visibility = ${statement.bind(params.visibility)}`);
    if (params.marked_for_deletion_on) {
      statement.filter(`n.marked_for_deletion_on = ${statement.bind(params.marked_for_deletion_on)}`);
    }
    // There is one repository storage.
    if (viewer.isAdmin && params.repository_storage && params.repository_storage !== 'default')
      statement.filter('false');
    if (params.search) statement.filter(searchSql(statement, params.search, parentId === null));
    return statement;
  }
}

/** Which groups the caller gets: those he belongs to, unless he asks for all that he may see. */
function seen(statement: ListStatement, viewer: Viewer, params: GroupFilters): void {
  if (viewer.userId === null) {
    statement.where(`n.visibility = 'public'`);
    return;
  }
  const user = (): string => `${statement.bind(viewer.userId)}::bigint`;
  if (params.owned || params.min_access_level !== undefined) {
    const level = Math.max(params.owned ? 50 : 0, params.min_access_level ?? 0);
    statement.filter(`n.id in (${reachedTreeSql(user(), String(level))})`);
    return;
  }
  const all = params.all_available ?? viewer.isAdmin;
  if (all && viewer.isAdmin) return;
  const mine = `n.id in (${reachedTreeSql(user(), '10')})`;
  if (!all) statement.where(mine);
  else
    statement.where(`(n.visibility = 'public' ${viewer.isExternal ? '' : `or n.visibility = 'internal'`} or ${mine})`);
}

function searchSql(statement: ListStatement, search: string, isWhole: boolean): string {
  if ([...search].length < 3) {
    const exact = statement.bind(search);
    return `(lower(n.name) = lower(${exact}) or lower(n.path) = lower(${exact}))`;
  }
  const pattern = statement.bind(containing(search));
  return `(n.name ilike ${pattern} or n.path ilike ${pattern} ${isWhole ? `or n.full_path ilike ${pattern}` : ''})`;
}

/** The chosen column as asked, then id ascending; similarity: equal, then beginning so, then containing. */
function orderOf(statement: ListStatement, params: GroupFilters): string {
  if (params.order_by !== 'similarity' || !params.search) {
    const column = params.order_by === 'similarity' ? 'name' : params.order_by;
    return column === 'id' ? `n.id ${params.sort}` : `n.${column} ${params.sort}, n.id asc`;
  }
  const text = statement.bind(params.search);
  const near = `case when lower(n.name) = lower(${text}) or lower(n.path) = lower(${text}) then 0
    when starts_with(lower(n.name), lower(${text})) or starts_with(lower(n.path), lower(${text})) then 1 else 2 end`;
  return `${near}, n.name, n.id`;
}

function list(order: string) {
  const show = (ids: string) =>
    `select ${SHOWN} from (${ids}) cut join namespaces n on n.id = cut.id order by cut.position`;
  return { name: 'groups', from: 'namespaces n', key: 'n.id', order, show };
}
