import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';

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
 * moves between its being read and being locked, the unit of work runs again. Source: ADR 0106.
 */
export const TOP_DOWN = 'cardinality(traversal_ids), id';
const TREE = `select id from namespaces where traversal_ids @> array[$1::bigint] order by ${TOP_DOWN} for no key update`;

/** Namespaces with everything below them. Source: reference identity-and-import 2.6; ADR 0106. */
@Injectable()
export class NamespaceTrees {
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

  /** Puts a locked tree at another place, or gives it another name or path. */
  async place(tx: Tx, id: number, from: Place, to: Place): Promise<void> {
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
