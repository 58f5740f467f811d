import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { directlyReachedProjectsSql } from './reach-sql';
import { reachedGroupIdArraySql, allReachedNamespacesSql } from './reached-groups-sql';

/**
 * Boolean SQL: the viewer can see the project `p`. The two sub-selects are evaluated once for the whole list. `user` is
 * an SQL expression; the text contains it only for viewers who are not administrators. Source: ADR 0063.
 */
export function visibleProjectsFilterSql(viewer: Viewer, user: string): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `p.visibility = 'public'`;
  const open = viewer.isExternal ? `p.visibility = 'public'` : `p.visibility <> 'private'`;
  const guest = String(ACCESS_LEVELS.guest);
  return `(${open} or p.namespace_id in (${allReachedNamespacesSql({ user, level: guest })}) or p.id in (${directlyReachedProjectsSql(user, guest)}))`;
}

/** SQL: projects in which the user has at least `level`. It starts from what the user reaches, not from the table. */
export function reachedProjectsFilterSql(user: string, level: number): string {
  const at = String(level);
  return `p.id in (select inside.id from projects inside where inside.namespace_id in (${allReachedNamespacesSql({ user, level: at })})
    union ${directlyReachedProjectsSql(user, at)})`;
}

/**
 * SQL: rows of the same projects, for a list of nothing else. Namespaces are passed as an array, so that one index scan
 * finds their projects instead of one scan per namespace. The text is a FROM item without its alias. Columns that the
 * index contains are read without visiting rows.
 */
export function reachedProjectRowsSql(user: string, level: number, columns: readonly string[]): string {
  const at = String(level);
  const shown = columns.map((column) => `q.${column}`).join(', ');
  const own = `select own.id from namespaces own where own.owner_id = ${user}`;
  return `(with homes as materialized (select ${reachedGroupIdArraySql({ user, level: at })} as ids)
    select ${shown} from projects q where q.namespace_id = any((select ids from homes)::bigint[])
    union all select ${shown} from projects q where q.namespace_id in (${own})
    union all select ${shown} from projects q where q.id in (${directlyReachedProjectsSql(user, at)})
      and q.namespace_id not in (select unnest(ids) from homes union all ${own}))`;
}
