import { projectLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { statement } from '@rookery/persistence';

/** True if the project `s` is public, or at least as open as the project `t`. */
const OPEN_ENOUGH_SQL = `(s.visibility = 'public' or s.visibility = t.visibility or t.visibility = 'private')`;

/**
 * Branches of a fork to which a user may push because an open merge request allows it. Only `RefAccess` grants the right,
 * since rules of the fork for a branch end it. Source: reference repositories 8.18.
 */
export const sharedBranches = statement<{ projectId: number; userId: number }, { readonly name: string }>(
  'merge_requests_shared_branches',
  `select distinct i.source_branch as name
   from merge_requests i
     join directory_projects s on s.id = i.source_project_id
     join directory_projects t on t.id = i.project_id
     join directory_namespaces home on home.id = t.namespace_id
   where i.source_project_id = :projectId::bigint and i.project_id <> i.source_project_id
     and i.state = 'opened' and i.allow_collaboration
     and not t.archived and t.merge_requests_access_level <> 'disabled' and ${OPEN_ENOUGH_SQL}
     and ${projectLevelSql({ user: ':userId::bigint', project: 't.id', namespace: 'home' })} >= ${ACCESS_LEVELS.developer}`,
);
