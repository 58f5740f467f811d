import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

/** Who sits at a path below a parent; parent 0 is the top level. Paths are in lower case. */
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

/** A full path that was left, and what it leads to. Paths are in lower case. */
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

/** A namespace and one that it lies in, itself included. Kept by the database (ADR 0063). */
@Entity('namespace_ancestors')
@Index('ix_namespace_ancestors_name', ['ancestorId', 'name', 'namespaceId'])
@Index('ix_namespace_ancestors_namespace_id', ['namespaceId', 'ancestorId'])
@Index('ix_namespace_ancestors_path', ['ancestorId', 'path', 'namespaceId'])
export class NamespaceAncestor {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_ancestors' }) ancestorId: number;
  @ForeignKey('namespaces', { name: 'fk_namespace_ancestors_namespace_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_ancestors' })
  namespaceId: number;
  /** Of the namespace, as the path. */
  @Column({ type: 'text', default: '' }) name: string;
  @Column({ type: 'text', default: '' }) path: string;
}

/** A group that has subgroups or was invited: its members reach more than itself. Kept by the database (ADR 0063). */
@Entity('leading_namespaces')
export class LeadingNamespace {
  @ForeignKey('namespaces', { name: 'fk_leading_namespaces_namespace_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_leading_namespaces' })
  namespaceId: number;
}

/** How often somebody asked whether a path is taken, within a window of time. */
@Entity('namespace_checks')
export class NamespaceCheck {
  @ForeignKey('users', { name: 'fk_namespace_checks_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_checks' })
  userId: number;
  @Column({ type: 'timestamptz', precision: 3 }) windowStartedAt: Date;
  @Column({ type: 'integer' }) checksCount: number;
}
