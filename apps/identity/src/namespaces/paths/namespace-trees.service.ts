import { Injectable } from '@nestjs/common';
import type { Visibility } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { GroupSettings } from '../settings/group-settings';
import { SiblingPathsService } from './sibling-paths.service';

/** Where a namespace lies, as far as what is below it depends on it. */
export interface Place {
  readonly parent_id: number | null;
  readonly name: string;
  readonly path: string;
  readonly full_name: string;
  readonly full_path: string;
  readonly traversal_ids: readonly number[];
}

/**
 * In which order namespaces are locked, SQL over their columns: those above before those below. Whoever locks a tree holds
 * its top first then, so two who want overlapping trees do not wait for each other. What is left of that, when a tree
 * moves between its being read and being locked, the unit of work runs again. Source: docs/architecture.md 5.
 */
export const TOP_DOWN = 'cardinality(traversal_ids), id';
const TREE = `select id from namespaces where traversal_ids @> array[$1::bigint] order by ${TOP_DOWN} for no key update`;

/** What only top-level groups decide. */
const ROOT_SETTINGS: readonly (keyof GroupSettings)[] = [
  'prevent_sharing_groups_outside_hierarchy',
  'resource_access_token_creation_allowed',
];

/** A visibility as a number. Shape: SQL; `visibility` is an expression. */
export const visibilityRankSql = (visibility: string): string =>
  `case ${visibility} when 'public' then 20 when 'internal' then 10 else 0 end`;

/** Namespaces with everything below them. Source: reference identity-and-import 2.6; docs/architecture.md 5. */
@Injectable()
export class NamespaceTreesService {
  constructor(private readonly paths: SiblingPathsService) {}

  /**
   * Locks a namespace and all below it against changes and new children; gives their ids. Whoever was making a child
   * when the tree was read has finished once the locks are there, so it is read again until nothing is new.
   */
  async lock(tx: Tx, id: number): Promise<number[]> {
    for (let known = -1; ;) {
      const ids = (await tx.query<{ id: number }>(TREE, [id])).map((row) => row.id);
      if (ids.length === known) return ids;
      known = ids.length;
    }
  }

  /** The namespaces in the order in which they are to be locked; those that are gone are left out. */
  async inLockOrder(tx: Tx, ids: readonly number[]): Promise<number[]> {
    if (ids.length < 2) return [...ids];
    const rows = await tx.query<{ id: number }>(`select id from namespaces where id = any($1) order by ${TOP_DOWN}`, [
      ids,
    ]);
    return rows.map(({ id }) => id);
  }

  /**
   * Puts a locked tree at another place, or gives it another name or path; former full paths keep leading to what is in
   * it. False when somebody else sits there: then the transaction must not be committed.
   */
  async move(tx: Tx, from: Place & { readonly id: number }, to: Place): Promise<boolean> {
    // Paths differ without regard to case; a change of case alone leaves nothing behind.
    if (to.full_path.toLowerCase() !== from.full_path.toLowerCase()) {
      await this.paths.redirectTree(tx, from.id);
      if (!(await this.paths.take(tx, to.parent_id, to.path, { namespaceId: from.id }))) return false;
    }
    await this.place(tx, from.id, from, to);
    await this.paths.endRedirect(tx, to.full_path);
    return true;
  }

  private async place(tx: Tx, id: number, from: Place, to: Place): Promise<void> {
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

  /** A tree has the plan of its root. */
  async setPlan(tx: Tx, id: number, plan: string): Promise<void> {
    await tx.query(
      `update namespaces set plan = $2, updated_at = now() where traversal_ids @> array[$1::bigint] and plan <> $2`,
      [id, plan],
    );
  }

  /** None of the namespaces is seen by more people than that. */
  async lower(tx: Tx, ids: readonly number[], visibility: Visibility): Promise<void> {
    await tx.query(
      `update namespaces set visibility = $2, updated_at = now()
       where id = any($1) and ${visibilityRankSql('visibility')} > ${visibilityRankSql('$2::text')}`,
      [ids, visibility],
    );
  }

  /** What only top-level groups decide ends with being one. */
  async dropRootSettings(tx: Tx, id: number): Promise<void> {
    await tx.query(`update namespaces set settings = settings - $2::text[] where id = $1`, [id, ROOT_SETTINGS]);
  }

  /** Units: levels, the namespace itself counted. */
  async height(tx: Tx, id: number): Promise<number> {
    const [row] = (await tx.query(
      `select max(cardinality(below.traversal_ids)) - min(cardinality(below.traversal_ids)) + 1 as height
       from namespaces below where below.traversal_ids @> array[$1::bigint]`,
      [id],
    )) as [{ height: number }];
    return row.height;
  }
}
