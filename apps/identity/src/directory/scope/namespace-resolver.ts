import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { isGroupVisibleSql } from '../reach/seen-sql';

/** Resolves a namespace that a parameter names, if the viewer can see it. */
@Injectable()
export class NamespaceResolver {
  constructor(private readonly db: Database) {}

  /**
   * Returns the id of a namespace. A number is an id, a text is a full path. A personal namespace is visible to its
   * user and to administrators. Errors: NotFound for the namespace.
   */
  async resolveId(viewer: Viewer, ref: number | string): Promise<number> {
    const named = typeof ref === 'number' ? 'n.id = $1' : 'lower(n.full_path) = lower($1)';
    const group = isGroupVisibleSql(viewer, { namespace: 'n', user: '$2::bigint' });
    const known = viewer.isAdmin ? 'true' : `case n.kind when 'user' then n.owner_id = $2::bigint else ${group} end`;
    const [row] = await this.db.query<{ id: number }>(
      `select n.id from namespaces n where ${named} and ${known}`,
      viewer.isAdmin ? [ref] : [ref, viewer.userId],
    );
    if (!row) throw new NotFound('Namespace');
    return row.id;
  }
}
