import type { Viewer } from '@rookery/kernel';
import { filterByCustomAttributes } from '../custom-attributes/custom-attributes-sql';
import { containing } from '../listing/list-statement';
import type { ListStatement } from '../listing/list-statement';
import type { GroupFilters, LinkedGroupFilters } from './group-filters';

/** Marked for deletion itself, or by a group above. */
const DOOMED = `exists (select 1 from namespaces up where up.id = any(n.traversal_ids) and up.marked_for_deletion_on is not null)`;

/** Filters that every list of groups has. Shape: groups are `n`; `searched` says whether the path above counts. */
export function narrow(
  statement: ListStatement,
  viewer: Viewer,
  params: LinkedGroupFilters,
  searched: 'own path' | 'full path',
): void {
  if (params.skip_groups?.length) statement.filter(`n.id <> all(${statement.bind(params.skip_groups)}::bigint[])`);
  if (params.visibility) statement.filter(`n.visibility = ${statement.bind(params.visibility)}`);
  if (params.search) statement.filter(searchSql(statement, params.search, searched));
  if (viewer.isAdmin) filterByCustomAttributes(statement, 'group', 'n.id', params.custom_attributes);
}

/** Filters by the state of a group. Source: reference identity-and-import 2.2; ADR 0112. */
export function narrowByState(statement: ListStatement, viewer: Viewer, params: GroupFilters): void {
  if (params.top_level_only) statement.filter('n.parent_id is null');
  if (params.marked_for_deletion_on) {
    statement.filter(`n.marked_for_deletion_on = ${statement.bind(params.marked_for_deletion_on)}`);
  }
  if (params.active !== undefined) statement.filter(params.active ? `not ${DOOMED}` : DOOMED);
  // No group is ever archived, and there is one repository storage.
  if (params.archived) statement.filter('false');
  if (viewer.isAdmin && params.repository_storage && params.repository_storage !== 'default') statement.filter('false');
}

function searchSql(statement: ListStatement, search: string, searched: 'own path' | 'full path'): string {
  if ([...search].length < 3) {
    const exact = statement.bind(search);
    return `(lower(n.name) = lower(${exact}) or lower(n.path) = lower(${exact}))`;
  }
  const pattern = statement.bind(containing(search));
  const whole = searched === 'full path' ? `or n.full_path ilike ${pattern}` : '';
  return `(n.name ilike ${pattern} or n.path ilike ${pattern} ${whole})`;
}
