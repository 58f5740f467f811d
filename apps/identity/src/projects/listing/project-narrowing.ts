import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { filter, searchCondition } from '@rookery/persistence';
import type { Bind, Filters, ListQuery } from '@rookery/persistence';
import { customAttributesFilter } from '../../custom-attributes/custom-attributes-sql';
import type { ProjectFilters } from './project-filters';

/**
 * Returns the access level that the filters require, 0 for none. Anonymous callers always get 0. Source:
 * reference identity-and-import 10.2.
 */
export function requiredProjectListLevel(viewer: Viewer, params: ProjectFilters): number {
  if (viewer.userId === null) return 0;
  const level = Math.max(params.owned ? ACCESS_LEVELS.owner : 0, params.min_access_level ?? 0);
  return level > 0 || params.membership ? Math.max(level, ACCESS_LEVELS.guest) : 0;
}

const ENDED = '(p.archived or p.marked_for_deletion_on is not null)';
const FILTERS: Filters<ProjectFilters> = {
  id_after: filter.compares('p.id', '>'),
  id_before: filter.compares('p.id', '<'),
  last_activity_after: filter.compares('p.last_activity_at', '>'),
  last_activity_before: filter.compares('p.last_activity_at', '<'),
  updated_after: filter.compares('p.updated_at', '>'),
  updated_before: filter.compares('p.updated_at', '<'),
  archived: filter.whether('p.archived'),
  active: (isActive) => (isActive ? `not ${ENDED}` : ENDED),
  visibility: filter.equals('p.visibility'),
  with_issues_enabled: filter.when(`p.issues_access_level <> 'disabled'`),
  with_merge_requests_enabled: filter.when(`p.merge_requests_access_level <> 'disabled'`),
  marked_for_deletion_on: filter.equals('p.marked_for_deletion_on'),
  // All named topics must match; an unknown one matches no project.
  topic: (names, bind) =>
    [...new Set(names)].map((name) => projectHasTopicSql(topicIdByNameSql(bind(name)))).join(' and '),
  topic_id: (id, bind) => id !== 0 && projectHasTopicSql(`${bind(id)}::bigint`),
  // Languages and security reports are not available yet, so no project matches. Source: reference identity-and-import
  // 10.2.
  with_programming_language: (language) => language !== '' && 'false',
  with_security_reports: filter.when('false'),
  search: (text, bind, { search_namespaces = false }) => projectSearchCondition(text, bind, search_namespaces),
};
const FILTERS_OF_ADMINISTRATORS: Filters<ProjectFilters> = {
  custom_attributes: customAttributesFilter('project', 'p.id'),
};

/**
 * Adds all filters except visibility and level. The table of projects has the alias `p`. `user` is the viewer's
 * parameter.
 */
export function narrowProjects(list: ListQuery<unknown>, viewer: Viewer, user: string, params: ProjectFilters): void {
  const starred = `p.id in (select given.project_id from project_stars given where given.user_id = ${user})`;
  const imported = `p.import_type is not null and p.creator_id = ${user}`;
  list.narrow(FILTERS, params).narrow({ starred: filter.when(starred), imported: filter.when(imported) }, params);
  if (viewer.isAdmin) list.narrow(FILTERS_OF_ADMINISTRATORS, params);
}

function projectHasTopicSql(topicIdSql: string): string {
  return `p.id in (select has.project_id from project_topics has where has.topic_id = ${topicIdSql})`;
}

function topicIdByNameSql(nameSql: string): string {
  return `(select t.id from topics t where lower(t.name) = lower(${nameSql}) and t.organization_id = 1)`;
}

function projectSearchCondition(search: string, bind: Bind, searchesFullPath: boolean): string | false {
  if (search === '') return false;
  const own = searchCondition({ short: ['p.name', 'p.path'], long: ['p.description'] }, [search], bind);
  if (!searchesFullPath) return own;
  const fullPath = searchCondition({ short: [], long: [`n.full_path || '/' || p.path`] }, [search], bind);
  return `(${own} or exists (select 1 from namespaces n where n.id = p.namespace_id and ${fullPath}))`;
}
