import { Injectable } from '@nestjs/common';
import { Conflict } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import type { Namespace } from '../group-settings/namespace.entity';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { USERNAME_TAKEN } from '../users/user-rules';

/** The namespace of a person is called as he is. Source: reference identity-and-import 2.10, 10.1. */
@Injectable()
export class PersonalNamespace {
  constructor(
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
  ) {}

  /** Projects move with it and are still found by their former paths. Errors: Conflict for a path that is taken. */
  async rename(tx: Tx, ownerId: number, to: { readonly name: string; readonly path: string }): Promise<void> {
    const [old] = await tx.query<Namespace>(`select * from namespaces where owner_id = $1 for no key update`, [
      ownerId,
    ]);
    if (!old) return;
    // Paths differ without regard to case; a change of case alone leaves nothing behind.
    if (to.path.toLowerCase() !== old.path.toLowerCase()) await this.move(tx, old, to.path);
    await tx.query(
      `update namespaces set name = $2, full_name = $2, path = $3, full_path = $3, updated_at = now() where id = $1`,
      [old.id, to.name, to.path],
    );
    this.log.record(tx, 'namespace', old.id);
  }

  private async move(tx: Tx, old: Namespace, path: string): Promise<void> {
    await this.paths.redirectTree(tx, old.id);
    if (!(await this.paths.take(tx, null, path, { namespaceId: old.id }))) throw new Conflict(USERNAME_TAKEN);
    await this.paths.endRedirect(tx, path);
  }
}
