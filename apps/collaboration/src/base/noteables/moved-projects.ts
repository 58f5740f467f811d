import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** $1 groups. */
const below = prepared(
  'moved_projects_below',
  `select p.id from directory_projects p join directory_namespaces home on home.id = p.namespace_id
   where home.traversal_ids && $1::bigint[] order by p.id`,
);

/** The projects that came to another place when these groups did: all that lie in them and below them. */
export async function projectsBelow(tx: Tx, groupIds: readonly number[]): Promise<number[]> {
  return (await tx.prepared<{ id: number }>(below, [groupIds])).map((project) => project.id);
}
