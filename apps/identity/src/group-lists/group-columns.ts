import type { Viewer } from '@rookery/kernel';
import { customAttributesSql } from '../custom-attributes/custom-attributes-sql';
import { GROUP_COLUMNS } from '../group-details/groups.queries';
import { groupStatisticsSql, rootStorageStatisticsSql } from '../statistics/statistics-sql';
import type { ShownBesides } from './group-filters';

/** The statement that shows the rows of a page; statistics and attributes only to administrators. */
export function listedSql(viewer: Viewer, params: ShownBesides): (ids: string) => string {
  const columns = [GROUP_COLUMNS];
  if (viewer.isAdmin && params.statistics) {
    columns.push(`${groupStatisticsSql('n.id')} as statistics`);
    columns.push(
      `case when n.parent_id is null then ${rootStorageStatisticsSql('n.id')} end as root_storage_statistics`,
    );
  }
  if (viewer.isAdmin && params.with_custom_attributes) {
    columns.push(`${customAttributesSql('group', 'n.id')} as custom_attributes`);
  }
  return (ids) =>
    `select ${columns.join(', ')} from (${ids}) cut join namespaces n on n.id = cut.id order by cut.position`;
}
