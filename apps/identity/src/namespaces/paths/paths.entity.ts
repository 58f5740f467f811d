import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

/** A path below a parent with its namespace or project; parent 0 is the top level. Paths are in lower case. */
@Entity('sibling_paths')
@Check('ck_sibling_paths_lower', 'path = lower(path)')
@Check('ck_sibling_paths_one', 'num_nonnulls(namespace_id, project_id) = 1')
@Unique('uq_sibling_paths_namespace_id', ['namespaceId'])
@Unique('uq_sibling_paths_project_id', ['projectId'])
export class SiblingPath {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_sibling_paths' }) parentId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_sibling_paths' }) path: string;
  @ForeignKey('namespaces', { name: 'fk_sibling_paths_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @ForeignKey('projects', { name: 'fk_sibling_paths_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
}

/** A former full path with its redirect target. Paths are in lower case. */
@Entity('redirect_routes')
@Check('ck_redirect_routes_lower', 'path = lower(path)')
@Check('ck_redirect_routes_one', 'num_nonnulls(namespace_id, project_id) = 1')
@Index('ix_redirect_routes_namespace_id', ['namespaceId'])
@Index('ix_redirect_routes_project_id', ['projectId'])
export class RedirectRoute {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_redirect_routes' }) path: string;
  @ForeignKey('namespaces', { name: 'fk_redirect_routes_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @ForeignKey('projects', { name: 'fk_redirect_routes_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** A namespace and one of its ancestors, which include itself. Maintained by triggers (ADR 0063). */
@Entity('namespace_ancestors')
@Index('ix_namespace_ancestors_name', ['ancestorId', 'name', 'namespaceId'])
@Index('ix_namespace_ancestors_namespace_id', ['namespaceId', 'ancestorId'])
@Index('ix_namespace_ancestors_path', ['ancestorId', 'path', 'namespaceId'])
export class NamespaceAncestor {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_ancestors' }) ancestorId: number;
  @ForeignKey('namespaces', { name: 'fk_namespace_ancestors_namespace_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_ancestors' })
  namespaceId: number;
  /** Name of the namespace, like the path. */
  @Column({ type: 'text', default: '' }) name: string;
  @Column({ type: 'text', default: '' }) path: string;
}

/**
 * A group with subgroups or that is invited elsewhere: its members reach more than the group itself. Maintained by
 * triggers (ADR 0063).
 */
@Entity('leading_namespaces')
export class ReachExtendingNamespace {
  @ForeignKey('namespaces', { name: 'fk_leading_namespaces_namespace_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_leading_namespaces' })
  namespaceId: number;
}

/** Number of path checks of a user within a time window. */
@Entity('namespace_checks')
export class NamespaceCheck {
  @ForeignKey('users', { name: 'fk_namespace_checks_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_checks' })
  userId: number;
  @Column({ type: 'timestamptz', precision: 3 }) windowStartedAt: Date;
  @Column({ type: 'integer' }) checksCount: number;
}
