import type { Tx } from '@rookery/persistence';
import { Injectable } from '@nestjs/common';

/** A group, a user namespace or a project at a path. */
export type Occupant = { readonly namespaceId: number } | { readonly projectId: number };

const namespaceIdOf = (occupant: Occupant): number | null => ('namespaceId' in occupant ? occupant.namespaceId : null);
const projectIdOf = (occupant: Occupant): number | null => ('projectId' in occupant ? occupant.projectId : null);

/**
 * Paths below each parent, which are unique, and redirects of former full paths. Source: reference identity-and-import
 * 2.10.
 */
@Injectable()
export class SiblingPathsService {
  /**
   * Takes a path below the parent (null: top level) and releases the former one. Returns false if the path is taken.
   * The transaction then stays usable, but must not be committed as it is.
   */
  async takePath(tx: Tx, parentId: number | null, path: string, who: Occupant): Promise<boolean> {
    await tx.query(`delete from sibling_paths where namespace_id = $1 or project_id = $2`, [
      namespaceIdOf(who),
      projectIdOf(who),
    ]);
    const rows = await tx.query(
      `insert into sibling_paths (parent_id, path, namespace_id, project_id) values ($1, lower($2), $3, $4)
       on conflict do nothing returning path`,
      [parentId ?? 0, path, namespaceIdOf(who), projectIdOf(who)],
    );
    return rows.length === 1;
  }

  /** Deletes a redirect, because a new resource has this path. */
  async endRedirect(tx: Tx, fullPath: string): Promise<void> {
    await tx.query(`delete from redirect_routes where path = lower($1)`, [fullPath]);
  }

  async redirectProject(tx: Tx, fullPath: string, projectId: number): Promise<void> {
    await tx.query(
      `insert into redirect_routes (path, project_id) values (lower($1), $2)
       on conflict (path) do update set project_id = excluded.project_id, namespace_id = null, created_at = now()`,
      [fullPath, projectId],
    );
  }

  /**
   * Stores redirects for the present full paths of a namespace and of all below it. Must be called before they change.
   */
  async redirectTree(tx: Tx, namespaceId: number): Promise<void> {
    await tx.query(
      `with tree as (
         select n.id, lower(n.full_path) as path from namespaces n, namespaces top
         where top.id = $1 and n.traversal_ids >= top.traversal_ids
           and n.traversal_ids < top.traversal_ids[1:array_length(top.traversal_ids, 1) - 1] || (top.id + 1))
       insert into redirect_routes (path, namespace_id, project_id)
       select path, id, null from tree
       union all select tree.path || '/' || lower(p.path), null, p.id from projects p join tree on tree.id = p.namespace_id
       on conflict (path) do update
         set namespace_id = excluded.namespace_id, project_id = excluded.project_id, created_at = now()`,
      [namespaceId],
    );
  }
}
