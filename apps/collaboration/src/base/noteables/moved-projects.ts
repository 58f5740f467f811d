import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** `$1`: group ids. */
const selectProjectsBelow = prepareStatement(
  'moved_projects_below',
  `select p.id from directory_projects p join directory_namespaces home on home.id = p.namespace_id
   where home.traversal_ids && $1::bigint[] order by p.id`,
);

/** Returns the ids of all projects in these groups and their subgroups; they moved with the groups. */
export async function projectIdsBelow(tx: Tx, groupIds: readonly number[]): Promise<number[]> {
  return (await tx.prepared<{ id: number }>(selectProjectsBelow, [groupIds])).map((project) => project.id);
}
