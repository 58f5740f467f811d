import type { Viewer } from '@rookery/kernel';
import { filter } from '@rookery/persistence';
import type { Filters, ListQuery } from '@rookery/persistence';
import { customAttributesFilter } from '../../custom-attributes/custom-attributes-sql';
import { namespaceSearchSql } from '../../namespaces/namespace-search';
import type { GroupFilters, LinkedGroupFilters } from './group-filters';

/** SQL: the group or one above it is marked for deletion. */
const MARKED_FOR_DELETION = `exists (select 1 from namespaces up where up.id = any(n.traversal_ids) and up.marked_for_deletion_on is not null)`;

const FILTERS: Filters<LinkedGroupFilters> = {
  skip_groups: filter.noneOf('n.id'),
  visibility: filter.equals('n.visibility'),
};
const FILTERS_OF_ADMINISTRATORS: Filters<LinkedGroupFilters> = {
  custom_attributes: customAttributesFilter('group', 'n.id'),
};

/** Source: reference identity-and-import 2.2. */
const STATE_FILTERS: Filters<GroupFilters> = {
  top_level_only: filter.when('n.parent_id is null'),
  marked_for_deletion_on: filter.equals('n.marked_for_deletion_on'),
  active: (isActive) => (isActive ? `not ${MARKED_FOR_DELETION}` : MARKED_FOR_DELETION),
  // Groups are never archived, and there is a single repository storage.
  archived: filter.when('false'),
};
const ADMINISTRATOR_STATE_FILTERS: Filters<GroupFilters> = {
  repository_storage: (storage) => storage !== '' && storage !== 'default' && 'false',
};

/**
 * Adds the filters of all lists of groups. The table of groups has the alias `n`. `searched` chooses whether the search
 * includes the path above.
 */
export function narrowGroupsByCommonFilters(
  list: ListQuery<unknown>,
  viewer: Viewer,
  params: LinkedGroupFilters,
  searched: 'own path' | 'full path',
): void {
  list.narrow(FILTERS, params);
  list.narrow({ search: (text, bind) => namespaceSearchSql(text, bind, searched === 'full path') }, params);
  if (viewer.isAdmin) list.narrow(FILTERS_OF_ADMINISTRATORS, params);
}

/** Adds the filters by the state of a group. */
export function narrowGroupsByState(list: ListQuery<unknown>, viewer: Viewer, params: GroupFilters): void {
  list.narrow(STATE_FILTERS, params);
  if (viewer.isAdmin) list.narrow(ADMINISTRATOR_STATE_FILTERS, params);
}
