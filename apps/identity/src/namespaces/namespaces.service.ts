import { Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { Visibility } from '@rookery/kernel';
import type { RowOf, Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { Namespace } from './namespace.entity';
import { SiblingPathsService } from './paths/sibling-paths.service';

/** A group or personal namespace to be created. Its location follows from the parent. */
export interface NewNamespace extends Partial<Namespace> {
  readonly id: number;
  readonly kind: Namespace['kind'];
  readonly name: string;
  readonly path: string;
  readonly visibility: Visibility;
}
/**
 * SQL expressions of type text for the name, path and plan of a personal namespace, in the statement that creates its
 * user.
 */
interface PersonalNamespaceExpressions {
  readonly name: string;
  readonly path: string;
  readonly plan: string;
}

/**
 * Parts of the statement that creates a user: the user's namespace with its path, at the top level. It reads `id` from
 * the part `person`. The part `place` returns `namespace_id`. It has no row if the path is taken: then the transaction
 * must not be committed.
 */
export const insertPersonalNamespaceSql = ({ name, path, plan }: PersonalNamespaceExpressions): string => `
   namespace as (
     insert into namespaces (id, kind, owner_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
     select next.id, 'user', person.id, array[next.id], ${name}, ${path}, ${name}, ${path}, 'public', ${plan}
     from person, (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) next
     returning id),
   ended as (delete from redirect_routes where path = lower(${path})),
   place as (
     insert into sibling_paths (parent_id, path, namespace_id) select 0, lower(${path}), id from namespace
     on conflict do nothing returning namespace_id)`;
export type ParentNamespace = RowOf<Namespace, 'id' | 'traversalIds' | 'fullPath' | 'fullName' | 'plan'>;

/** Rows of namespaces, with their paths and change log entries. Permissions are not checked here. */
@Injectable()
export class NamespacesService {
  constructor(
    private readonly log: ChangeLog,
    private readonly paths: SiblingPathsService,
    private readonly instance: InstanceSettings,
  ) {}

  /** Reserves an id for a row that will be inserted. */
  async nextId(tx: Tx): Promise<number> {
    const [row] = (await tx.query(`select nextval(pg_get_serial_sequence('namespaces', 'id')) as id`)) as [
      { id: number },
    ];
    return row.id;
  }

  /** Inserts a namespace. Returns false if the path is taken: then the transaction must not be committed. */
  async insertNamespace(tx: Tx, draft: NewNamespace, parent: ParentNamespace | null): Promise<boolean> {
    const { id, name, path } = draft;
    const fullPath = parent ? `${parent.full_path}/${path}` : path;
    await tx.manager.insert(Namespace, {
      ...draft,
      parentId: parent?.id ?? null,
      traversalIds: [...(parent?.traversal_ids ?? []), id],
      fullName: parent ? `${parent.full_name} / ${name}` : name,
      fullPath,
      plan: parent?.plan ?? this.topLevelPlan,
    });
    if (!(await this.paths.takePath(tx, parent?.id ?? null, path, { namespaceId: id }))) return false;
    await this.paths.endRedirect(tx, fullPath);
    this.log.recordChange(tx, 'namespace', id);
    return true;
  }

  /** Plan of new top-level namespaces. */
  get topLevelPlan(): Namespace['plan'] {
    return this.instance.setting('default_plan');
  }

  /** Updates columns that no namespace below depends on. The caller records the change. */
  async changeColumns(tx: Tx, id: number, columns: Partial<Namespace>): Promise<void> {
    await tx.manager.update(Namespace, id, { ...columns, updatedAt: new Date() });
  }

  /** Marks a group for deletion. Source: reference identity-and-import 2.6. */
  async markForDeletion(tx: Tx, id: number): Promise<void> {
    await tx.query(
      `update namespaces set marked_for_deletion_on = (now() at time zone 'UTC')::date, marked_for_deletion_at = now(),
         updated_at = now() where id = $1`,
      [id],
    );
    await this.recordDeletionMark(tx, id);
  }

  async unmarkForDeletion(tx: Tx, id: number): Promise<void> {
    await tx.query(
      `update namespaces set marked_for_deletion_on = null, marked_for_deletion_at = null, updated_at = now()
       where id = $1`,
      [id],
    );
    await this.recordDeletionMark(tx, id);
  }

  /** Groups and projects below a marked group are read-only, so that their states in the directory change too. */
  private async recordDeletionMark(tx: Tx, id: number): Promise<void> {
    await this.log.recordSubtree(tx, id);
    await this.log.recordProjectsBelow(tx, id);
  }

  /** Deletes only these rows. The caller has recorded the change and removed their contents. */
  async remove(tx: Tx, ids: readonly number[]): Promise<void> {
    await tx.query(`delete from namespaces where id = any($1)`, [ids]);
  }
}
