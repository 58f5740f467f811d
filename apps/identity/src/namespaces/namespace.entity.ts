import type { Visibility } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { GroupSettings, PlainGroupColumns } from './settings/group-settings';

/** A group, or the personal namespace of a user. */
@Entity('namespaces')
@Check('ck_namespaces_kind', `((kind = 'user') = (owner_id is not null)) and (kind in ('group', 'user'))`)
@Check('ck_namespaces_plan', `plan in ('free', 'premium', 'ultimate')`)
@Check('ck_namespaces_visibility', `visibility in ('private', 'internal', 'public')`)
@Index('ix_namespaces_ancestors', { synchronize: false })
@Index('ix_namespaces_group_id', { synchronize: false })
@Index('ix_namespaces_group_name', ['name', 'id'], { where: `kind = 'group'` })
@Index('ix_namespaces_group_path', ['path', 'id'], { where: `kind = 'group'` })
@Index('ix_namespaces_marked_for_deletion_on', ['markedForDeletionOn'], { where: 'marked_for_deletion_on is not null' })
@Index('ix_namespaces_parent_id', ['parentId'], { where: 'parent_id is not null' })
@Index('ix_namespaces_public_name', ['name', 'id'], { where: `(kind = 'group') and (visibility = 'public')` })
@Index('ix_namespaces_traversal_ids', ['traversalIds'])
@Index('uq_namespaces_full_path', { synchronize: false })
@Index('uq_namespaces_owner_id', ['ownerId'], { unique: true })
@Index('uq_namespaces_parent_id_name', ['parentId', 'name'], { unique: true, where: `kind = 'group'` })
export class Namespace {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_namespaces',
  })
  id: number;
  @Column({ type: 'text' }) kind: 'group' | 'user';
  @ForeignKey('users', { name: 'fk_namespaces_owner_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  ownerId: number | null;
  @ForeignKey('namespaces', { name: 'fk_namespaces_parent_id' })
  @Column({ type: 'bigint', nullable: true })
  parentId: number | null;
  /** Ids from the root down to this namespace, which is included. */
  @Column({ type: 'bigint', array: true }) traversalIds: number[];
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text' }) path: string;
  @Column({ type: 'text' }) fullName: string;
  @Column({ type: 'text' }) fullPath: string;
  @Column({ type: 'text', default: '' }) description: string;
  @Column({ type: 'text' }) visibility: Visibility;
  @Column({ type: 'text', nullable: true }) avatarUrl: string | null;
  @Column({ type: 'boolean', default: true }) emailsEnabled: boolean;
  @Column({ type: 'text' }) plan: 'free' | 'premium' | 'ultimate';
  @Column({ type: 'text', default: 'developer' }) projectCreationLevel: PlainGroupColumns['project_creation_level'];
  @Column({ type: 'text', default: 'maintainer' }) subgroupCreationLevel: PlainGroupColumns['subgroup_creation_level'];
  @Column({ type: 'boolean', default: true }) requestAccessEnabled: boolean;
  /** Only values that differ from the defaults. */
  @Column({ type: 'jsonb', default: {} }) settings: Partial<GroupSettings>;
  @Column({ type: 'text', nullable: true }) runnersToken: string | null;
  @Column({ type: 'date', nullable: true }) markedForDeletionOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) markedForDeletionAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** The highest number of seats that a top-level group has used. */
@Entity('namespace_seats')
export class NamespaceSeats {
  @ForeignKey('namespaces', { name: 'fk_namespace_seats_namespace_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_namespace_seats' })
  namespaceId: number;
  @Column({ type: 'integer' }) maxSeatsUsed: number;
  @Column({ type: 'timestamptz', precision: 3 }) maxSeatsUsedChangedAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) countedAt: Date;
}

/** The row, as statements read it. */
export type NamespaceRecord = RowOf<Namespace, keyof Namespace>;
