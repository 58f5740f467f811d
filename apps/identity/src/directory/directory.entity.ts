import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** Head of the change log: a single row. */
@Entity('directory_head')
@Check('ck_directory_head_single', 'id')
export class DirectoryHead {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'pk_directory_head' }) id: boolean;
  @Column({ type: 'bigint', default: 0 }) version: number;
  @Column({ type: 'text', default: () => `replace((gen_random_uuid()), '-', '')` }) epoch: string;
  @Column({ type: 'bigint', default: 0 }) compactedTo: number;
  /** Identifies the database in which the log is kept. Empty before the first process of the release that sets it. */
  @Column({ type: 'text', default: '' }) history: string;
  /** The newest entry of `directory_lives`. */
  @Column({ type: 'text', default: '' }) life: string;
  /**
   * Copies that have not yet reported the ids they have seen, and the ids that were certainly issued. Null when all
   * have reported.
   */
  @Column({ type: 'jsonb', nullable: true }) awaited: unknown;
}

/** The start of one identity process. All versions sent to readers before it are at most `began_at`. */
@Entity('directory_lives')
export class ChangeLogIncarnation {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', primaryKeyConstraintName: 'pk_directory_lives' }) id: number;
  @Column({ type: 'text' }) word: string;
  @Column({ type: 'bigint' }) beganAt: number;
}

/** A service whose copy follows the log. */
@Entity('directory_readers')
export class DirectoryReader {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_directory_readers' }) service: string;
  @Column({ type: 'timestamptz', precision: 3 }) seenAt: Date;
}

/** An entry of the change log: the state of a row since a version; null when the row is deleted. */
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
