import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';
import { TOP_DOWN } from '../../namespaces/paths/namespace-trees.service';

const OWNED = `m.user_id = $1 and m.source_type = 'namespace' and m.access_level = 50 and ${isMembershipOrShareUnexpiredSql('m')}`;

/** Finds groups that would have no owner without a user. Source: reference identity-and-import 2.8, 10.1. */
@Injectable()
export class SolelyOwnedGroups {
  /**
   * Returns the ids of groups that only this user owns, ancestors before their subgroups. Locks the user's groups and their
   * ancestors, so that the last two owners cannot be removed at the same time. Bounds: at most `limit` groups.
   */
  async lockIds(tx: Tx, userId: number, limit: number): Promise<number[]> {
    await tx.query(
      `select n.id from namespaces n where n.id in (
         select unnest(g.traversal_ids) from members m join namespaces g on g.id = m.source_id where ${OWNED})
       order by ${TOP_DOWN} for no key update`,
      [userId],
    );
    const rows = await tx.query<{ id: number }>(
      `select g.id from members m join namespaces g on g.id = m.source_id where ${OWNED}
         and not exists (select 1 from members o join users u on u.id = o.user_id and u.state = 'active' and u.kind <> 'project_bot'
           where o.source_type = 'namespace' and o.source_id = any(g.traversal_ids) and o.access_level = 50
             and o.user_id <> $1 and ${isMembershipOrShareUnexpiredSql('o')})
       order by cardinality(g.traversal_ids), g.id limit $2`,
      [userId, limit],
    );
    return rows.map((row) => row.id);
  }
}
