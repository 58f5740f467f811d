import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { filterByCustomAttributes } from '../custom-attributes/custom-attributes-sql';
import { containing } from '../listing/list-statement';
import type { ListStatement } from '../listing/list-statement';
import type { ProjectFilters } from './project-filters';

/**
 * The level that the filters ask for; 0 when they ask for none. Anonymous callers hold none, and are not asked.
 * Source: reference identity-and-import 10.2.
 */
export function wantedLevel(viewer: Viewer, params: ProjectFilters): number {
  if (viewer.userId === null) return 0;
  const level = Math.max(params.owned ? ACCESS_LEVELS.owner : 0, params.min_access_level ?? 0);
  return level > 0 || params.membership ? Math.max(level, ACCESS_LEVELS.guest) : 0;
}

/** Adds every filter but visibility and level. Shape: conditions on rows `p`; `user` is the viewer's placeholder. */
export function narrow(statement: ListStatement, viewer: Viewer, user: string, params: ProjectFilters): void {
  byTime(statement, params);
  byState(statement, params);
  byTopics(statement, params);
  if (params.starred) {
    statement.filter(`p.id in (select given.project_id from project_stars given where given.user_id = ${user})`);
  }
  if (params.imported) statement.filter(`p.import_type is not null and p.creator_id = ${user}`);
  // Languages and security reports come with what is not there yet, so no project fits. Source: ADR 0064 (10).
  if (params.with_programming_language || params.with_security_reports) statement.filter('false');
  if (params.search) statement.filter(searchSql(statement, params.search, params.search_namespaces === true));
  if (viewer.isAdmin) filterByCustomAttributes(statement, 'project', 'p.id', params.custom_attributes);
}

function byTime(statement: ListStatement, params: ProjectFilters): void {
  const compare = (column: string, operator: '<' | '>', value: Date | number | null | undefined): void => {
    if (value !== undefined && value !== null) statement.filter(`${column} ${operator} ${statement.bind(value)}`);
  };
  compare('p.id', '>', params.id_after);
  compare('p.id', '<', params.id_before);
  compare('p.last_activity_at', '>', params.last_activity_after);
  compare('p.last_activity_at', '<', params.last_activity_before);
  compare('p.updated_at', '>', params.updated_after);
  compare('p.updated_at', '<', params.updated_before);
}

function byState(statement: ListStatement, params: ProjectFilters): void {
  const ended = '(p.archived or p.marked_for_deletion_on is not null)';
  if (params.archived !== undefined) statement.filter(params.archived ? 'p.archived' : 'not p.archived');
  if (params.active !== undefined) statement.filter(params.active ? `not ${ended}` : ended);
  if (params.visibility) statement.filter(`p.visibility = ${statement.bind(params.visibility)}`);
  if (params.with_issues_enabled) statement.filter(`p.issues_access_level <> 'disabled'`);
  if (params.with_merge_requests_enabled) statement.filter(`p.merge_requests_access_level <> 'disabled'`);
  if (params.marked_for_deletion_on) {
    statement.filter(`p.marked_for_deletion_on = ${statement.bind(params.marked_for_deletion_on)}`);
  }
}

/** All the named topics; one that there is not fits no project. */
function byTopics(statement: ListStatement, params: ProjectFilters): void {
  const having = (topic: string): void =>
    void statement.filter(`p.id in (select has.project_id from project_topics has where has.topic_id = ${topic})`);
  for (const name of new Set(params.topic)) {
    having(
      `(select t.id from topics t where lower(t.name) = lower(${statement.bind(name)}) and t.organization_id = 1)`,
    );
  }
  if (params.topic_id) having(`${statement.bind(params.topic_id)}::bigint`);
}

function searchSql(statement: ListStatement, search: string, isWide: boolean): string {
  const pattern = statement.bind(containing(search));
  const own = `p.name ilike ${pattern} or p.path ilike ${pattern} or p.description ilike ${pattern}`;
  const above = `exists (select 1 from namespaces n where n.id = p.namespace_id and n.full_path || '/' || p.path ilike ${pattern})`;
  return isWide ? `(${own} or ${above})` : `(${own})`;
}
