import { prepared } from '@rookery/persistence';
import { columnsOf } from './directory-rows';
import { groupLevelSql, projectLevelSql } from './level-sql';

/** Lookups of many at once; $1 a list of ids. */
export const USERS_BY_ID = prepared(
  'directory_users_by_id',
  `select ${columnsOf('user', 'u', '')} from directory_users u where u.id = any($1::bigint[])`,
);

/** $1 lower-cased usernames. */
export const USERS_BY_USERNAME = prepared(
  'directory_users_by_username',
  `select ${columnsOf('user', 'u', '')} from directory_users u where lower(u.username) = any($1::text[])`,
);

export const PROJECTS_BY_ID = prepared(
  'directory_projects_by_id',
  `select ${columnsOf('project', 'p', 'p_')}, ${columnsOf('namespace', 'n', 'n_')}
   from directory_projects p join directory_namespaces n on n.id = p.namespace_id where p.id = any($1::bigint[])`,
);

export const NAMESPACES_BY_ID = prepared(
  'directory_namespaces_by_id',
  `select ${columnsOf('namespace', 'n', 'n_')} from directory_namespaces n where n.id = any($1::bigint[])`,
);

/** $1 the project, $2 user ids; people who are not active hold nothing. */
export const PROJECT_LEVELS = prepared(
  'directory_project_levels',
  `select u.id as user_id, ${projectLevelSql({ user: 'u.id', project: 'p.id', namespace: 'n' })} as level
   from directory_projects p join directory_namespaces n on n.id = p.namespace_id
   join directory_users u on u.id = any($2::bigint[]) and u.state = 'active'
   where p.id = $1::bigint`,
);

/** $1 the namespace, $2 user ids. */
export const GROUP_LEVELS = prepared(
  'directory_group_levels',
  `select u.id as user_id, ${groupLevelSql({ user: 'u.id', namespace: 'n' })} as level
   from directory_namespaces n join directory_users u on u.id = any($2::bigint[]) and u.state = 'active'
   where n.id = $1::bigint`,
);

/** $1 milliseconds. */
export const SETTLED = prepared(
  'directory_settled',
  `select epoch <> '' and refreshed_at >= statement_timestamp() - $1::integer * interval '1 millisecond' as settled
   from directory_state`,
);
