import { prepareStatement } from '@rookery/persistence';
import { directoryColumnsSql } from '../copy/directory-rows';
import { groupAccessLevelSql, projectAccessLevelSql } from './level-sql';
import { visibleGroupSql, visibleProjectSql } from './visibility-sql';

const VIEWER = { viewer: '$2', isAdmin: '$3', isExternal: '$4' };

/** $1 ids. */
export const USERS_BY_ID = prepareStatement(
  'directory_users_by_id',
  `select ${directoryColumnsSql('user', 'u', '')} from directory_users u where u.id = any($1::bigint[])`,
);

/** $1 lower-cased usernames. */
export const USERS_BY_USERNAME = prepareStatement(
  'directory_users_by_username',
  `select ${directoryColumnsSql('user', 'u', '')} from directory_users u where lower(u.username) = any($1::text[])`,
);

/**
 * Selects the bots whose group or project the viewer may not see. Selects all bots, with `is_reached` false, if the
 * copy has not reached the version. $1 ids of bots, $2-$4 the viewer, $5 and $6 epoch and version of the viewer, $7
 * groups whose bots are visible in any case.
 */
export const UNKNOWN_BOTS = prepareStatement(
  'directory_unknown_bots',
  `select u.id, s.is_reached from directory_users u
   cross join (select epoch = $5::text and version >= $6::bigint as is_reached from directory_state) s
   left join directory_projects p on p.id = u.bot_project_id
   left join directory_namespaces n on n.id = u.bot_group_id
   where u.id = any($1::bigint[]) and (not s.is_reached or not coalesce(
     u.bot_group_id = any($7::bigint[]) or ${visibleProjectSql({ project: 'p', ...VIEWER })} or ${visibleGroupSql({ namespace: 'n', ...VIEWER })}, false))`,
);

export const PROJECTS_BY_ID = prepareStatement(
  'directory_projects_by_id',
  `select ${directoryColumnsSql('project', 'p', 'p_')}, ${directoryColumnsSql('namespace', 'n', 'n_')}
   from directory_projects p join directory_namespaces n on n.id = p.namespace_id where p.id = any($1::bigint[])`,
);

export const NAMESPACES_BY_ID = prepareStatement(
  'directory_namespaces_by_id',
  `select ${directoryColumnsSql('namespace', 'n', 'n_')} from directory_namespaces n where n.id = any($1::bigint[])`,
);

/** Selects the ids that exist in the copy. $1 ids. */
const existingIdsStatement = (table: string) =>
  prepareStatement(
    `directory_living_${table}`,
    `select id from directory_${table} where id = any($1::bigint[]) order by id`,
  );
export const EXISTING = {
  user: existingIdsStatement('users'),
  project: existingIdsStatement('projects'),
  group: existingIdsStatement('namespaces'),
} as const;
/** Unlists lost records whose data is deleted, so that no decision is left. $1 a kind, $2 ids. */
export const UNLIST_LOST = prepareStatement(
  'directory_no_more_lost',
  'delete from directory_lost where kind = $1 and id = any($2::bigint[])',
);

/** $1 the project, $2 user ids. Users who are not active have no level. */
export const PROJECT_LEVELS = prepareStatement(
  'directory_project_levels',
  `select u.id as user_id, ${projectAccessLevelSql({ user: 'u.id', project: 'p.id', namespace: 'n' })} as level
   from directory_projects p join directory_namespaces n on n.id = p.namespace_id
   join directory_users u on u.id = any($2::bigint[]) and u.state = 'active'
   where p.id = $1::bigint`,
);

/** $1 the namespace, $2 user ids. */
export const GROUP_LEVELS = prepareStatement(
  'directory_group_levels',
  `select u.id as user_id, ${groupAccessLevelSql({ user: 'u.id', namespace: 'n' })} as level
   from directory_namespaces n join directory_users u on u.id = any($2::bigint[]) and u.state = 'active'
   where n.id = $1::bigint`,
);

/**
 * Whether the copy was current within $1 milliseconds and has seen the positions $2-$4: epochs, versions and times. The
 * copy never reaches a version of another epoch; it must have been current after the time of the event instead.
 */
export const SETTLED = prepareStatement(
  'directory_settled',
  `select s.epoch <> '' and s.refreshed_at >= statement_timestamp() - $1::integer * interval '1 millisecond'
     and not exists (
       select 1 from unnest($2::text[], $3::bigint[], $4::timestamptz[]) as e (epoch, version, at)
       where case when e.epoch = s.epoch then e.version > s.version else e.at > s.refreshed_at end
     ) as settled
   from directory_state s`,
);
