import { Injectable } from '@nestjs/common';
import { groupLevelSql } from '@rookery/directory';
import type { Page, PageRequest, SignedInViewer } from '@rookery/kernel';
import { maySee } from '@rookery/kernel';
import type { Visibility } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { OWN_TABLES } from '../scope/reach-sql';
import { reachedTreeSql } from '../scope/reached-groups-sql';
import { membersWithDescendantsSql, projectsCountSql, seatsSql } from '../seats/seats-sql';
import { rootStorageStatisticsSql } from '../statistics/statistics-sql';
import type { NamespaceFilters, NamespaceRow } from './namespace-row';

const MIN_PART = 3;
const OWNED = 'held.level >= 50';

/** What only owners and administrators see is counted for nobody else. Shape: `user` and `isAdmin` are SQL expressions. */
function shown(ids: string, user: string, isAdmin: string): string {
  const level = groupLevelSql({ user, namespace: 'n', tables: OWN_TABLES });
  const counted = (sql: string) => `case when ${isAdmin} or ${OWNED} then ${sql} end`;
  return `select n.id, n.name, n.path, n.kind, n.full_path, n.parent_id, n.avatar_url, n.plan, n.settings,
      n.visibility, n.owner_id, held.level, (${isAdmin} or ${OWNED}) as is_administered,
      ${counted(`case n.kind when 'group' then ${membersWithDescendantsSql('n.id')} end`)} as members_count_with_descendants,
      ${counted(`(${rootStorageStatisticsSql('n.id')} ->> 'repository_size')::bigint`)} as root_repository_size,
      ${counted(projectsCountSql('n.id'))} as projects_count, ${counted(seatsSql('n'))} as seats,
      known.max_seats_used, known.max_seats_used_changed_at
    from (${ids}) cut join namespaces n on n.id = cut.id
    cross join lateral (select ${level} as level) held
    left join namespace_seats known on known.namespace_id = n.id
    order by cut.position`;
}

interface JudgedRow extends NamespaceRow {
  readonly visibility: Visibility;
  readonly owner_id: number | null;
  readonly level: number;
}

/** Reads of groups and personal namespaces together. Source: reference identity-and-import 3. */
@Injectable()
export class NamespacesQueries {
  constructor(private readonly db: Database) {}

  /** By id: everything for administrators, the own one and groups of theirs for others. */
  page(viewer: SignedInViewer, params: NamespaceFilters, request: PageRequest): Promise<Page<NamespaceRow>> {
    const statement = new ListStatement();
    const user = `${statement.bind(viewer.userId)}::bigint`;
    const level = params.owned_only ? '50' : '10';
    if (!viewer.isAdmin) statement.where(`n.id = any(array(${reachedTreeSql({ user, level })}))`);
    if (params.top_level_only) statement.filter('n.parent_id is null');
    if (params.search) statement.filter(searchSql(statement, params.search, params.full_path_search));
    const show = (ids: string) => shown(ids, user, String(viewer.isAdmin));
    return statement.page<NamespaceRow>(
      this.db,
      { name: 'namespaces', from: 'namespaces n', key: 'n.id', order: 'n.id', show },
      request,
    );
  }

  /** Null unless the viewer may know of it: of a group like of the group itself, of a person's only he. */
  async one(viewer: SignedInViewer, ref: number | string): Promise<NamespaceRow | null> {
    const match = typeof ref === 'number' ? 'id = $2' : 'lower(full_path) = lower($2)';
    const ids = `select id, 1 as position from namespaces where ${match}`;
    const [row] = await this.db.query<JudgedRow>(shown(ids, '$1::bigint', String(viewer.isAdmin)), [
      viewer.userId,
      ref,
    ]);
    if (!row) return null;
    const isSeen = row.kind === 'user' ? viewer.isAdmin || row.level >= 50 : maySee(viewer, row.visibility, row.level);
    return isSeen ? row : null;
  }
}

function searchSql(statement: ListStatement, search: string, isWhole: boolean): string {
  if ([...search].length < MIN_PART) {
    const exact = statement.bind(search);
    return `(lower(n.name) = lower(${exact}) or lower(n.path) = lower(${exact}))`;
  }
  const pattern = statement.bind(containing(search));
  return `(n.name ilike ${pattern} or n.path ilike ${pattern} ${isWhole ? `or n.full_path ilike ${pattern}` : ''})`;
}
