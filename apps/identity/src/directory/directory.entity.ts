import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The newest version of the change log: one row. */
@Entity('directory_head')
@Check('ck_directory_head_single', 'id')
export class DirectoryHead {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'pk_directory_head' }) id: boolean;
  @Column({ type: 'bigint', default: 0 }) version: number;
  @Column({ type: 'text', default: () => `replace((gen_random_uuid()), '-', '')` }) epoch: string;
  @Column({ type: 'bigint', default: 0 }) compactedTo: number;
}

/** One entry of the change log: what a thing is like since a version; null when it is gone. */
@Entity('directory_changes')
@Index('ix_directory_changes_created_at', ['createdAt'])
@Index('ix_directory_changes_entity', ['kind', 'entityId', 'version'])
export class DirectoryChange {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_directory_changes' }) version: number;
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_directory_changes' }) ordinal: number;
  @Column({ type: 'text' }) kind: string;
  @Column({ type: 'bigint' }) entityId: number;
  @Column({ type: 'jsonb', nullable: true }) state: unknown;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'statement_timestamp()' }) createdAt: Date;
}
