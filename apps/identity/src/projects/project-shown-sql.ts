import { groupAccessLevelSql, projectAccessLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { instantSql } from '@rookery/persistence';
import { customAttributesSql } from '../custom-attributes/custom-attributes-sql';
import { OWN_TABLES, isMembershipOrShareUnexpiredSql } from '../directory/reach/reach-sql';
import { isProjectVisibleSql } from '../directory/reach/seen-sql';
import { sharedWithGroupsSql } from '../members/sharing/shared-with-groups-sql';
import { projectIssueAndCommitCountsSql, projectStatisticsSql } from '../statistics/statistics-sql';
import { userSummaryJsonSql } from '../users/users.queries';

/** Parameters for selecting the columns of projects. `user` is an SQL expression of the viewer's id. */
export interface ProjectSelection {
  readonly viewer: Viewer;
  readonly user: string;
  readonly shape: 'basic' | 'full';
  readonly isSingle?: boolean;
  readonly statistics?: boolean;
  readonly with_custom_attributes?: boolean;
  readonly license?: boolean;
}

/**
 * Returns the shape for a viewer. Anonymous callers always get the basic one. Source: reference identity-and-import
 * 10.2.
 */
export function chooseShape(viewer: Viewer, { simple = false } = {}): ProjectSelection['shape'] {
  return simple || viewer.userId === null ? 'basic' : 'full';
}

const LIVE = `(m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

const namespaceJsonSql = (
  alias: string,
): string => `json_build_object('id', ${alias}.id, 'name', ${alias}.name, 'path', ${alias}.path,
  'kind', ${alias}.kind, 'full_path', ${alias}.full_path, 'full_name', ${alias}.full_name, 'parent_id', ${alias}.parent_id,
  'avatar_url', ${alias}.avatar_url)`;

const topicsJsonSql = (projectId: string): string => `coalesce((select json_agg(t.name order by a.position, a.topic_id)
  from project_topics a join topics t on t.id = a.topic_id where a.project_id = ${projectId}), '[]')`;

/** SQL: the columns of a list of projects `p` with type `ProjectRow`. */
export function projectColumns(showing: ProjectSelection): { readonly columns: string; readonly joins: string } {
  const attributes = showing.with_custom_attributes === true && showing.viewer.isAdmin;
  return {
    columns: `p.*, ${namespaceJsonSql('n')} as namespace, ${topicsJsonSql('p.id')} as topics, '${showing.shape}' as shape,
      ${showing.isSingle === true} as is_single, ${showing.license === true} as with_license,
      ${attributes ? customAttributesSql('project', 'p.id') : 'null'} as custom_attributes,
      ${showing.shape === 'full' ? columnsOnlyInFullShapeSql(showing) : BASIC_ONLY}`,
    joins: 'join namespaces n on n.id = p.namespace_id',
  };
}

const BASIC_ONLY = `null as owner, 0 as level, null as project_level, null as group_level, null as counts,
    '[]'::json as shared_with_groups, null as forked_from_project, null as statistics`;

function columnsOnlyInFullShapeSql({ viewer, user, statistics }: ProjectSelection): string {
  return `(select ${userSummaryJsonSql('o')} from users o where o.id = n.owner_id) as owner,
    ${projectAccessLevelSql({ user, project: 'p.id', namespace: 'n', tables: OWN_TABLES })} as level,
    (select m.access_level from members m
      where m.user_id = ${user} and m.source_type = 'project' and m.source_id = p.id and ${LIVE}) as project_level,
    nullif(greatest(case when n.kind = 'group' then ${groupAccessLevelSql({ user, namespace: 'n', tables: OWN_TABLES })} end,
      ${levelByInvitedGroupsSql(user)}), 0) as group_level,
    ${projectIssueAndCommitCountsSql('p.id')} as counts,
    ${sharedWithGroupsSql(viewer, { source: 'project', id: 'p.id', user })} as shared_with_groups,
    ${forkSourceJsonSql(viewer, user)} as forked_from_project,
    ${statistics === true ? projectStatisticsSql('p.id') : 'null'} as statistics`;
}

/** SQL: the viewer's level by groups that are invited to the project itself. Source: ADR 0040. */
function levelByInvitedGroupsSql(user: string): string {
  return `(select max(least(s.access_level, m.access_level)) from shares s
      join namespaces invited on invited.id = s.group_id
      join members m on m.user_id = ${user} and m.source_type = 'namespace' and m.source_id = any(invited.traversal_ids)
      where s.source_type = 'project' and s.source_id = p.id and ${isMembershipOrShareUnexpiredSql('s')} and ${LIVE})`;
}

function forkSourceJsonSql(viewer: Viewer, user: string): string {
  const plain = ['id', 'description', 'name', 'path', 'default_branch', 'avatar_url', 'star_count', 'forks_count'];
  const pairs = [...plain, 'visibility'].map((column) => `'${column}', f.${column}`).join(', ');
  return `(select json_build_object(${pairs}, 'created_at', ${instantSql('f.created_at')},
        'last_activity_at', ${instantSql('f.last_activity_at')}, 'namespace', ${namespaceJsonSql('fn')}, 'topics', ${topicsJsonSql('f.id')})
      from projects f join namespaces fn on fn.id = f.namespace_id
      where f.id = p.forked_from_project_id and ${isProjectVisibleSql(viewer, { project: 'f', namespace: 'fn', user })})`;
}
