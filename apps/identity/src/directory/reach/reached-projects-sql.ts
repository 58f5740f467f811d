import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { reachedProjectsSql } from './reach-sql';
import { reachedTreeSql } from './reached-groups-sql';

/**
 * What the viewer may know of, as a condition on rows `p` of projects; the two sub-selects are evaluated once for the
 * whole list. Shape: `user` is an SQL expression, in the text only for people who are not administrators.
 * Source: ADR 0063.
 */
export function seenProjects(viewer: Viewer, user: string): string {
  if (viewer.isAdmin) return 'true';
  if (viewer.userId === null) return `p.visibility = 'public'`;
  const open = viewer.isExternal ? `p.visibility = 'public'` : `p.visibility <> 'private'`;
  const guest = String(ACCESS_LEVELS.guest);
  return `(${open} or p.namespace_id in (${reachedTreeSql({ user, level: guest })}) or p.id in (${reachedProjectsSql(user, guest)}))`;
}

/** Where the user holds at least `level`: driven by what they reach, not by the table. */
export function reachedProjects(user: string, level: number): string {
  const at = String(level);
  return `p.id in (select inside.id from projects inside where inside.namespace_id in (${reachedTreeSql({ user, level: at })})
    union ${reachedProjectsSql(user, at)})`;
}

/**
 * Rows of the same projects, for a list of nothing else. Shape: a FROM item without its alias; ids alone, where no more
 * is asked of the rows, are found in an index without a look at any of them.
 */
export function reachedProjectRows(user: string, level: number, columns: 'id' | '*'): string {
  const at = String(level);
  return `(with homes as materialized (${reachedTreeSql({ user, level: at })})
    select q.${columns} from projects q where q.namespace_id in (select id from homes)
    union all select q.${columns} from projects q where q.id in (${reachedProjectsSql(user, at)})
      and q.namespace_id not in (select id from homes))`;
}
