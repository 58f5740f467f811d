import { prepared } from '@rookery/persistence';
import { columnsOf } from '../copy/directory-rows';
import { groupLevelSql, projectLevelSql } from './level-sql';
import { visibleGroupSql, visibleProjectSql } from './visibility-sql';

const VIEWER = { viewer: '$2', isAdmin: '$3', isExternal: '$4' };

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

/**
 * $1 ids of bots, $2-$4 the viewer, $5 and $6 the epoch and the version that decide, $7 groups whose bots are known. Answers
 * the bots of other places that the viewer does not see; with all of them, and not reached, where the copy may not judge that.
 */
export const UNKNOWN_BOTS = prepared(
  'directory_unknown_bots',
  `select u.id, s.is_reached from directory_users u
   cross join (select epoch = $5::text and version >= $6::bigint as is_reached from directory_state) s
   left join directory_projects p on p.id = u.bot_project_id
   left join directory_namespaces n on n.id = u.bot_group_id
   where u.id = any($1::bigint[]) and (not s.is_reached or not coalesce(
     u.bot_group_id = any($7::bigint[]) or ${visibleProjectSql({ project: 'p', ...VIEWER })} or ${visibleGroupSql({ namespace: 'n', ...VIEWER })}, false))`,
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

/** $1 ids. */
const livingIn = (table: string) =>
  prepared(`directory_living_${table}`, `select id from directory_${table} where id = any($1::bigint[]) order by id`);
export const LIVING = {
  user: livingIn('users'),
  project: livingIn('projects'),
  group: livingIn('namespaces'),
} as const;
/** $1 a kind, $2 ids: what belongs to them is dropped, so nothing is left to decide. */
export const NO_MORE_LOST = prepared(
  'directory_no_more_lost',
  'delete from directory_lost where kind = $1 and id = any($2::bigint[])',
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

/**
 * $1 milliseconds, $2-$4 what must have been seen: epochs, the version of each, and when it was seen. A version of
 * another history is never reached; then the copy must have been current since.
 */
export const SETTLED = prepared(
  'directory_settled',
  `select s.epoch <> '' and s.refreshed_at >= statement_timestamp() - $1::integer * interval '1 millisecond'
     and not exists (
       select 1 from unnest($2::text[], $3::bigint[], $4::timestamptz[]) as e (epoch, version, at)
       where case when e.epoch = s.epoch then e.version > s.version else e.at > s.refreshed_at end
     ) as settled
   from directory_state s`,
);
