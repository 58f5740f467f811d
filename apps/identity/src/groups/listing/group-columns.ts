import type { Viewer } from '@rookery/kernel';
import { customAttributesSql } from '../../custom-attributes/custom-attributes-sql';
import { GROUP_COLUMNS } from '../details/groups.queries';
import { groupStatisticsSql, rootStorageStatisticsSql } from '../../statistics/statistics-sql';
import type { AdditionalFields } from './group-filters';

/** SQL: columns of listed groups `n`. Statistics and attributes are for administrators only. */
export function listedGroupColumnsSql(viewer: Viewer, params: AdditionalFields): string {
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
  return columns.join(', ');
}
