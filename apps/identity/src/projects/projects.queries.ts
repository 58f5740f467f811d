import { Injectable } from '@nestjs/common';
import { projectLevelSql } from '@rookery/directory';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { OWN_TABLES, reachedProjectsSql, reachedTreeSql } from '../scope/reach-sql';
import { userFaceSql } from '../users/users.queries';
import type { ProjectFilters } from './project-input';
import type { ProjectRow } from './project-row';

const NAMESPACE = `json_build_object('id', n.id, 'name', n.name, 'path', n.path, 'kind', n.kind, 'full_path', n.full_path,
  'full_name', n.full_name, 'parent_id', n.parent_id, 'avatar_url', n.avatar_url)`;
const LIVE = `(m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/** Projects shown to the user `user` (an SQL expression). Shape: `ids` is a sub-select of `id` and `position`. */
function shown(ids: string, user: string, shape: 'basic' | 'full'): string {
  return `select p.*, ${NAMESPACE} as namespace, '${shape}' as shape,
    (select ${userFaceSql('o')} from users o where o.id = n.owner_id) as owner,
    ${projectLevelSql({ user, project: 'p.id', namespace: 'n', tables: OWN_TABLES })} as level,
    (select m.access_level from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.source_id = p.id and ${LIVE}) as project_level,
    (select max(m.access_level) from members m where m.user_id = ${user} and m.source_type = 'namespace'
      and m.source_id = any(n.traversal_ids) and ${LIVE}) as group_level,
    coalesce((select json_agg(json_build_object('group_id', g.id, 'group_name', g.name, 'group_full_path', g.full_path,
        'group_access_level', s.access_level, 'expires_at', s.expires_on) order by s.id)
      from shares s join namespaces g on g.id = s.group_id where s.source_type = 'project' and s.source_id = p.id
        and g.visibility = 'public'), '[]') as shared_with_groups
    from (${ids}) cut join projects p on p.id = cut.id join namespaces n on n.id = p.namespace_id order by cut.position`;
}

/** Reads of projects, with visibility inside the statements. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectsQueries {
  constructor(private readonly db: Database) {}

  async one(viewer: Viewer, id: number): Promise<ProjectRow | null> {
    const shape = viewer.userId === null ? 'basic' : 'full';
    const ids = 'select $1::bigint as id, 1 as position';
    return (await this.db.query<ProjectRow>(shown(ids, '$2::bigint', shape), [id, viewer.userId]))[0] ?? null;
  }

  page(viewer: Viewer, params: ProjectFilters, request: PageRequest): Promise<Page<ProjectRow>> {
    const { statement, user } = statementFor(viewer, params);
    return statement.page<ProjectRow>(
      this.db,
      list(orderOf(statement, params), user, shapeFor(viewer, params)),
      request,
    );
  }

  /** By id, within `id_after` and `id_before`; one row more than asked for. */
  after(viewer: Viewer, params: ProjectFilters, perPage: number): Promise<ProjectRow[]> {
    const { statement, user } = statementFor(viewer, params);
    return statement.rows<ProjectRow>(this.db, list(`p.id ${params.sort}`, user, shapeFor(viewer, params)), perPage);
  }

  /** At most 100 of a group's own, newest first. */
  ofGroup(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listed(viewer, (statement) => `p.namespace_id = ${statement.bind(groupId)}`);
  }

  /** At most 100 of those that others share with the group, newest first. */
  sharedInto(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listed(
      viewer,
      (statement) => `p.id in (select s.source_id from shares s where s.source_type = 'project'
        and s.group_id = ${statement.bind(groupId)})`,
    );
  }

  private async listed(viewer: Viewer, where: (statement: ListStatement) => string): Promise<ProjectRow[]> {
    const statement = new ListStatement();
    const user = `${statement.bind(viewer.userId)}::bigint`;
    statement.where(where(statement));
    seen(statement, viewer, user);
    return (await statement.rows<ProjectRow>(this.db, list('p.id desc', user, 'full'), 100)).slice(0, 100);
  }
}

function shapeFor(viewer: Viewer, params: ProjectFilters): 'basic' | 'full' {
  return params.simple || viewer.userId === null ? 'basic' : 'full';
}

function list(order: string, user: string, shape: 'basic' | 'full') {
  return { name: 'projects', from: 'projects p', key: 'p.id', order, show: (ids: string) => shown(ids, user, shape) };
}

/** What the viewer may know of; the two sub-selects are evaluated once for the whole list. */
function seen(statement: ListStatement, viewer: Viewer, user: string): void {
  if (viewer.isAdmin) return;
  const open = viewer.userId === null || viewer.isExternal ? `p.visibility = 'public'` : `p.visibility <> 'private'`;
  statement.where(viewer.userId === null ? open : `(${open} or ${reached(user, 10)})`);
}

function reached(user: string, level: number): string {
  return `p.namespace_id in (${reachedTreeSql(user, String(level))}) or p.id in (${reachedProjectsSql(user, String(level))})`;
}

/** For lists of nothing else: driven by what the user reaches, not by the table. */
function reachedIds(user: string, level: number): string {
  return `select inside.id from projects inside where inside.namespace_id in (${reachedTreeSql(user, String(level))})
    union ${reachedProjectsSql(user, String(level))}`;
}

function statementFor(viewer: Viewer, params: ProjectFilters): { statement: ListStatement; user: string } {
  const statement = new ListStatement();
  const user = `${statement.bind(viewer.userId)}::bigint`;
  if (viewer.userId === null) seen(statement, viewer, user);
  else {
    const level = Math.max(params.membership ? 10 : 0, params.owned ? 50 : 0, params.min_access_level ?? 0);
    // Whoever belongs there may see it, so belonging takes the place of the general rule.
    if (level >= 10) statement.filter(`p.id in (${reachedIds(user, level)})`);
    else seen(statement, viewer, user);
  }
  narrow(statement, params);
  return { statement, user };
}

function narrow(statement: ListStatement, params: ProjectFilters): void {
  const compare = (column: string, operator: '<' | '>', value: Date | number | null | undefined): void => {
    if (value !== undefined && value !== null) statement.filter(`${column} ${operator} ${statement.bind(value)}`);
  };
  compare('p.id', '>', params.id_after);
  compare('p.id', '<', params.id_before);
  compare('p.last_activity_at', '>', params.last_activity_after);
  compare('p.last_activity_at', '<', params.last_activity_before);
  compare('p.updated_at', '>', params.updated_after);
  compare('p.updated_at', '<', params.updated_before);
  if (params.archived !== undefined) statement.filter(params.archived ? 'p.archived' : 'not p.archived');
  if (params.visibility) statement.filter(`p.visibility = ${statement.bind(params.visibility)}`);
  // No project has stars, topics or languages, so none fits. Source: ADR 0064 (10).
  if (params.starred || params.topic || params.topic_id || params.with_programming_language) statement.filter('false');
  if (params.with_issues_enabled) statement.filter(`p.issues_access_level <> 'disabled'`);
  if (params.with_merge_requests_enabled) statement.filter(`p.merge_requests_access_level <> 'disabled'`);
  if (params.search) {
    const pattern = statement.bind(containing(params.search));
    const own = `p.name ilike ${pattern} or p.path ilike ${pattern} or p.description ilike ${pattern}`;
    const above = `exists (select 1 from namespaces n where n.id = p.namespace_id and n.full_path || '/' || p.path ilike ${pattern})`;
    statement.filter(params.search_namespaces ? `(${own} or ${above})` : `(${own})`);
  }
}

/** The chosen column, then id in the same direction; created_at is the order of ids. */
function orderOf(statement: ListStatement, params: ProjectFilters): string {
  const { order_by, sort } = params;
  if (order_by === 'id' || order_by === 'created_at') return `p.id ${sort}`;
  if (order_by !== 'similarity') return `p.${order_by} ${sort}, p.id ${sort}`;
  if (!params.search) return 'p.name asc, p.id asc';
  const text = statement.bind(params.search);
  return `case when lower(p.path) = lower(${text}) or lower(p.name) = lower(${text}) then 0
    when starts_with(lower(p.path), lower(${text})) or starts_with(lower(p.name), lower(${text})) then 1 else 2 end, p.name, p.id`;
}
