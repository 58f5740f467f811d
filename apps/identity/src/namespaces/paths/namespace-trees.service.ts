import { Injectable } from '@nestjs/common';
import type { Visibility } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { GroupSettings } from '../settings/group-settings';
import { SiblingPathsService } from './sibling-paths.service';

/** Fields of a namespace that the namespaces below it depend on. */
export interface NamespacePlace {
  readonly parent_id: number | null;
  readonly name: string;
  readonly path: string;
  readonly full_name: string;
  readonly full_path: string;
  readonly traversal_ids: readonly number[];
}

/**
 * Order in which namespaces are locked, as SQL over their columns: parents before their children. A transaction that
 * locks a tree locks its root first, so two with overlapping trees cannot deadlock. If a tree is moved between reading
 * and locking, a deadlock is still possible; the unit of work is then run again. Source: docs/architecture.md 5.
 */
export const TOP_DOWN = 'cardinality(traversal_ids), id';
const TREE = `select id from namespaces where traversal_ids @> array[$1::bigint] order by ${TOP_DOWN} for no key update`;

/** Settings that only top-level groups have. */
const ROOT_SETTINGS: readonly (keyof GroupSettings)[] = [
  'prevent_sharing_groups_outside_hierarchy',
  'resource_access_token_creation_allowed',
];

/** SQL: a visibility as a number. `visibility` is an SQL expression. */
export const visibilityRankSql = (visibility: string): string =>
  `case ${visibility} when 'public' then 20 when 'internal' then 10 else 0 end`;

/**
 * Trees of namespaces: a namespace with all those below it. Source: reference identity-and-import 2.6;
 * docs/architecture.md 5.
 */
@Injectable()
export class NamespaceTreesService {
  constructor(private readonly paths: SiblingPathsService) {}

  /**
   * Locks a namespace and all those below it against changes and new children, and returns their ids. A transaction
   * that was creating a child during the read has finished once the locks are acquired, so the tree is read again until
   * it contains nothing new.
   */
  async lockTree(tx: Tx, id: number): Promise<number[]> {
    for (let known = -1; ;) {
      const ids = (await tx.query<{ id: number }>(TREE, [id])).map((row) => row.id);
      if (ids.length === known) return ids;
      known = ids.length;
    }
  }

  /** Returns the namespaces in locking order. Deleted ones are left out. */
  async inLockOrder(tx: Tx, ids: readonly number[]): Promise<number[]> {
    if (ids.length < 2) return [...ids];
    const rows = await tx.query<{ id: number }>(`select id from namespaces where id = any($1) order by ${TOP_DOWN}`, [
      ids,
    ]);
    return rows.map(({ id }) => id);
  }

  /**
   * Moves or renames a locked tree. The former full paths redirect to its contents. Returns false when the path is
   * taken: then the transaction must not be committed.
   */
  async moveTree(tx: Tx, from: NamespacePlace & { readonly id: number }, to: NamespacePlace): Promise<boolean> {
    // Paths are case-insensitive, so a change of case alone needs no redirect.
    if (to.full_path.toLowerCase() !== from.full_path.toLowerCase()) {
      await this.paths.redirectTree(tx, from.id);
      if (!(await this.paths.takePath(tx, to.parent_id, to.path, { namespaceId: from.id }))) return false;
    }
    await this.updateTreePlace(tx, from.id, from, to);
    await this.paths.endRedirect(tx, to.full_path);
    return true;
  }

  private async updateTreePlace(tx: Tx, id: number, from: NamespacePlace, to: NamespacePlace): Promise<void> {
    await tx.query(
      `update namespaces set
         parent_id = case when id = $1 then $2 else parent_id end,
         name = case when id = $1 then $3 else name end, path = case when id = $1 then $4 else path end,
         full_name = $5 || substr(full_name, length($6) + 1), full_path = $7 || substr(full_path, length($8) + 1),
         traversal_ids = $9::bigint[] || traversal_ids[$10::int + 1:], updated_at = now()
       where traversal_ids @> array[$1::bigint]`,
      [
        ...[id, to.parent_id, to.name, to.path, to.full_name, from.full_name, to.full_path, from.full_path],
        ...[to.traversal_ids, from.traversal_ids.length],
      ],
    );
  }

  /** Sets the plan of a whole tree. */
  async setPlan(tx: Tx, id: number, plan: string): Promise<void> {
    await tx.query(
      `update namespaces set plan = $2, updated_at = now() where traversal_ids @> array[$1::bigint] and plan <> $2`,
      [id, plan],
    );
  }

  /** Lowers the visibility of namespaces to at most the given one. */
  async lowerVisibility(tx: Tx, ids: readonly number[], visibility: Visibility): Promise<void> {
    await tx.query(
      `update namespaces set visibility = $2, updated_at = now()
       where id = any($1) and ${visibilityRankSql('visibility')} > ${visibilityRankSql('$2::text')}`,
      [ids, visibility],
    );
  }

  /** Removes the settings that only top-level groups have. */
  async dropRootSettings(tx: Tx, id: number): Promise<void> {
    await tx.query(`update namespaces set settings = settings - $2::text[] where id = $1`, [id, ROOT_SETTINGS]);
  }

  /** Returns the height of the tree. Units: levels, including the namespace itself. */
  async measureHeight(tx: Tx, id: number): Promise<number> {
    const [row] = (await tx.query(
      `select max(cardinality(below.traversal_ids)) - min(cardinality(below.traversal_ids)) + 1 as height
       from namespaces below where below.traversal_ids @> array[$1::bigint]`,
      [id],
    )) as [{ height: number }];
    return row.height;
  }
}
