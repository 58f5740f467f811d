import { Injectable } from '@nestjs/common';
import { groupAccessLevelSql } from '@rookery/directory';
import type { Page, PageRequest, SignedInViewer, Visibility } from '@rookery/kernel';
import { maySee } from '@rookery/kernel';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { Filters } from '@rookery/persistence';
import { OWN_TABLES } from '../directory/reach/reach-sql';
import { allReachedNamespacesSql } from '../directory/reach/reached-groups-sql';
import { membersCountWithDescendantsSql, namespaceProjectsCountSql, usedSeatCountSql } from './plans/seats-sql';
import { rootStorageStatisticsSql } from '../statistics/statistics-sql';
import type { NamespaceFilters, NamespaceRow } from './namespace-row';
import { namespaceSearchSql } from './namespace-search';

const VIEWER = '$1::bigint';
const OWNED = 'held.level >= 50';

/**
 * Selects all namespaces, with the columns that the viewer may see; the caller restricts the rows. Counts for owners and administrators are not computed for other viewers. `$1` is the
 * viewer.
 */
function unfilteredNamespacesQuery(viewer: SignedInViewer): ListQuery<ViewerNamespaceRow> {
  const level = groupAccessLevelSql({ user: VIEWER, namespace: 'n', tables: OWN_TABLES });
  const isAdministered = `(${viewer.isAdmin} or ${OWNED})`;
  const counted = (sql: string) => `case when ${isAdministered} then ${sql} end`;
  return new ListQuery<ViewerNamespaceRow>({
    name: 'namespaces',
    from: 'namespaces n',
    columns: `n.id, n.name, n.path, n.kind, n.full_path, n.parent_id, n.avatar_url, n.plan, n.settings,
      n.visibility, n.owner_id, held.level, ${isAdministered} as is_administered,
      ${counted(`case n.kind when 'group' then ${membersCountWithDescendantsSql('n.id')} end`)} as members_count_with_descendants,
      ${counted(`(${rootStorageStatisticsSql('n.id')} ->> 'repository_size')::bigint`)} as root_repository_size,
      ${counted(namespaceProjectsCountSql('n.id'))} as projects_count, ${counted(usedSeatCountSql('n'))} as seats,
      known.max_seats_used, known.max_seats_used_changed_at`,
    joins: `cross join lateral (select ${level} as level) held left join namespace_seats known on known.namespace_id = n.id`,
    values: [viewer.userId],
  });
}

interface ViewerNamespaceRow extends NamespaceRow {
  readonly visibility: Visibility;
  readonly owner_id: number | null;
  readonly level: number;
}

/** Reads of groups and personal namespaces together. Source: reference identity-and-import 3. */
@Injectable()
export class NamespacesQueries {
  constructor(private readonly db: Database) {}

  /** Lists namespaces by id: all for administrators, else the viewer's own one and groups. */
  list(viewer: SignedInViewer, params: NamespaceFilters, request: PageRequest): Promise<Page<NamespaceRow>> {
    const list = unfilteredNamespacesQuery(viewer);
    const level = params.owned_only ? '50' : '10';
    if (!viewer.isAdmin) list.where(`n.id = any(array(${allReachedNamespacesSql({ user: VIEWER, level })}))`);
    return list.narrow(FILTERS, params).readPage(this.db, request);
  }

  /**
   * Returns a namespace, or null unless the viewer can see it: a group by its visibility, a personal namespace only
   * for its user.
   */
  async findNamespace(viewer: SignedInViewer, ref: number | string): Promise<NamespaceRow | null> {
    const row = await unfilteredNamespacesQuery(viewer)
      .where((bind) => (typeof ref === 'number' ? `n.id = ${bind(ref)}` : `lower(n.full_path) = lower(${bind(ref)})`))
      .readOne(this.db);
    if (!row) return null;
    const isSeen = row.kind === 'user' ? viewer.isAdmin || row.level >= 50 : maySee(viewer, row.visibility, row.level);
    return isSeen ? row : null;
  }
}

const FILTERS: Filters<NamespaceFilters> = {
  top_level_only: filter.when('n.parent_id is null'),
  search: (text, bind, { full_path_search }) => namespaceSearchSql(text, bind, full_path_search),
};
