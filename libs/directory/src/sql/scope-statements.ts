import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement } from '@rookery/persistence';
import { HEAD_COLUMNS } from '../copy/copy-progress';
import { directoryColumnsSql } from '../copy/directory-rows';
import { groupAccessLevelSql, projectAccessLevelSql } from './level-sql';

/**
 * The statements that authorize every request below a project or group. Each is one round trip and one snapshot of the
 * copy's version, the project or group, its namespace, and the level and state of the viewer. The decision therefore
 * matches the version. Each returns exactly one row. $1 is the viewer's user id or null. The reference follows.
 * Source: docs/performance.md 5.7.
 */
const HEAD = `${HEAD_COLUMNS}, viewer.state as viewer_state`;
const FROM_HEAD = `from directory_state s left join directory_users viewer on viewer.id = $1::bigint`;

const PROJECT = `select ${HEAD}, ${directoryColumnsSql('project', 'p', 'p_')}, ${directoryColumnsSql('namespace', 'n', 'n_')},
  ${projectAccessLevelSql({ user: '$1::bigint', project: 'p.id', namespace: 'n' })} as level
  ${FROM_HEAD}
  left join (directory_projects p join directory_namespaces n on n.id = p.namespace_id) on`;

const GROUP = `select ${HEAD}, ${directoryColumnsSql('namespace', 'n', 'n_')},
  ${groupAccessLevelSql({ user: '$1::bigint', namespace: 'n' })} as level
  ${FROM_HEAD}
  left join directory_namespaces n on`;

export const PROJECT_BY_ID: PreparedStatement = prepareStatement(
  'directory_project_by_id',
  `${PROJECT} p.id = $2::bigint`,
);

/** $2 full path of the namespace, $3 path of the project. */
export const PROJECT_BY_PATH: PreparedStatement = prepareStatement(
  'directory_project_by_path',
  `${PROJECT} lower(n.full_path) = lower($2::text) and lower(p.path) = lower($3::text)`,
);

export const GROUP_BY_ID: PreparedStatement = prepareStatement('directory_group_by_id', `${GROUP} n.id = $2::bigint`);

export const GROUP_BY_PATH: PreparedStatement = prepareStatement(
  'directory_group_by_path',
  `${GROUP} lower(n.full_path) = lower($2::text)`,
);

/** A statement with the parameters of its reference. The viewer's id precedes them. */
export interface ScopeStatement {
  readonly statement: PreparedStatement;
  readonly values: readonly unknown[];
}

/** Selects only the position of the copy and the state of the viewer. */
export const NO_REFERENCE: ScopeStatement = {
  statement: prepareStatement('directory_viewer', `select ${HEAD} ${FROM_HEAD}`),
  values: [],
};

/**
 * Returns the statement for a project. Returns null if the reference can match nothing: an id beyond 2^53, a path
 * without a project, a NUL byte.
 */
export function projectStatement(ref: number | string): ScopeStatement | null {
  const reference = parseIdOrPath(ref);
  if (reference === null) return null;
  if (typeof reference === 'number') return { statement: PROJECT_BY_ID, values: [reference] };
  const slash = reference.lastIndexOf('/');
  if (slash < 1) return null;
  return { statement: PROJECT_BY_PATH, values: [reference.slice(0, slash), reference.slice(slash + 1)] };
}

/** Returns the statement for a group. Returns null when the reference can match nothing. */
export function groupStatement(ref: number | string): ScopeStatement | null {
  const reference = parseIdOrPath(ref);
  if (reference === null) return null;
  return { statement: typeof reference === 'number' ? GROUP_BY_ID : GROUP_BY_PATH, values: [reference] };
}

/**
 * Parses a reference. Digits are always an id, because no path that is accepted in place of an id consists of digits
 * only.
 */
function parseIdOrPath(ref: number | string): number | string | null {
  if (typeof ref === 'string' && !/^\d+$/.test(ref)) return ref === '' || ref.includes('\0') ? null : ref;
  const id = Number(ref);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}
