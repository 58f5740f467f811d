import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import type { NamespaceRecord } from './namespace.entity';
import { NamespacesService } from './namespaces.service';
import { NamespaceTreesService } from './paths/namespace-trees.service';

/** Name of a user, and so of the personal namespace. */
export interface PersonalName {
  readonly name: string;
  readonly path: string;
}

/**
 * Personal namespaces. They follow the user's name and avatar, and are deleted with the user. Source: reference
 * identity-and-import 2.10, 10.1.
 */
@Injectable()
export class PersonalNamespacesService {
  constructor(
    private readonly log: ChangeLog,
    private readonly trees: NamespaceTreesService,
    private readonly namespaces: NamespacesService,
  ) {}

  /** Plan of new personal namespaces. */
  get defaultPlan(): string {
    return this.namespaces.topLevelPlan;
  }

  /**
   * Renames the namespace. Its projects move with it, and their former paths redirect. Returns false if the path is
   * taken: then the transaction must not be committed.
   */
  async renameNamespace(tx: Tx, ownerId: number, to: PersonalName): Promise<boolean> {
    const [old] = await tx.query<NamespaceRecord>(`select * from namespaces where owner_id = $1 for no key update`, [
      ownerId,
    ]);
    if (!old) return true;
    const { id, parent_id, traversal_ids } = old;
    const place = { ...to, parent_id, traversal_ids, full_name: to.name, full_path: to.path };
    if (!(await this.trees.moveTree(tx, old, place))) return false;
    this.log.recordChange(tx, 'namespace', id);
    return true;
  }

  async setAvatarUrl(tx: Tx, ownerId: number, url: string | null): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `update namespaces set avatar_url = $2, updated_at = now() where owner_id = $1 returning id`,
      [ownerId, url],
    );
    this.log.recordChange(tx, 'namespace', ...rows.map((row) => row.id));
  }

  /** Deletes the namespace. The caller has recorded the change. */
  async remove(tx: Tx, ownerId: number): Promise<void> {
    await tx.query(`delete from namespaces where owner_id = $1`, [ownerId]);
  }
}
