import { projectAccessLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { statement } from '@rookery/persistence';

/** True if the project `s` is public, or at least as open as the project `t`. */
const OPEN_ENOUGH_SQL = `(s.visibility = 'public' or s.visibility = t.visibility or t.visibility = 'private')`;

/** True if the project `s` is a fork of the project `t`, of a fork of it, and so on. */
export const DESCENDS_SQL = `((s.fork->>'network_id')::bigint = t.id or exists (
       with recursive origins (id) as (
         select (s.fork->>'project_id')::bigint
         union
         select (o.fork->>'project_id')::bigint from origins join directory_projects o on o.id = origins.id
       )
       select 1 from origins where origins.id = t.id))`;

/**
 * Branches of a fork to which a user may push because an open merge request allows it. Only `RefAccess` grants the right,
 * since a rule of the fork for the branch cancels it. It is no
 * more than the right of the user who shared the branch, so it ends with theirs. Source: reference repositories 8.18.
 */
export const sharedBranches = statement<{ projectId: number; userId: number }, { readonly name: string }>(
  'merge_requests_shared_branches',
  `select distinct i.source_branch as name
   from merge_requests i
     join directory_projects s on s.id = i.source_project_id
     join directory_projects t on t.id = i.project_id
     join directory_namespaces home on home.id = t.namespace_id
     join directory_namespaces origin on origin.id = s.namespace_id
     join directory_users g on g.id = coalesce(i.collaboration_granted_by_id, i.author_id) and g.state = 'active'
   where i.source_project_id = :projectId::bigint and i.project_id <> i.source_project_id
     and i.state = 'opened' and i.allow_collaboration
     and not t.archived and t.merge_requests_access_level <> 'disabled' and ${OPEN_ENOUGH_SQL}
     and ${DESCENDS_SQL}
     and ${projectAccessLevelSql({ user: ':userId::bigint', project: 't.id', namespace: 'home' })} >= ${ACCESS_LEVELS.developer}
     and (g.admin or ${projectAccessLevelSql({ user: 'g.id', project: 's.id', namespace: 'origin' })} >= ${ACCESS_LEVELS.developer})`,
);
