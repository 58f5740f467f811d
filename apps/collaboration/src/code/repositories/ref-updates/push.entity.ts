import { declareAttachedTable } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** Source of ref updates. */
export type PushSource = 'git' | 'api';

/** One push: ref updates that were requested together. It is written before git moves the refs. Source: ADR 0185. */
@Entity('pushes')
@Index('ix_pushes_project_id', ['projectId', 'id'])
@Index('ix_pushes_user_id', ['userId'])
@Index('ix_pushes_unsettled', ['leasedUntil'], { where: 'settled_at IS NULL' })
export class Push {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_pushes',
  })
  id: number;
  @ForeignKey('repositories', { name: 'fk_pushes_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  projectId: number;
  /** Null after the user was removed with `hard_delete`. */
  @Column({ type: 'bigint', nullable: true }) userId: number | null;
  @Column({ type: 'text' }) source: PushSource;
  /** Push options about pipelines and merge requests, such as `ci.skip`. */
  @Column({ type: 'text', array: true, default: [] }) options: string[];
  /** Size of the new objects on disk, if a quota applied. Units: bytes. */
  @Column({ type: 'bigint', default: 0 }) storedBytes: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  /** The process that received the push settles it until this time. A job settles it afterwards. */
  @Column({ type: 'timestamptz', precision: 3 }) leasedUntil: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) settledAt: Date | null;
}

export type RefUpdateState = 'intended' | 'done' | 'refused';

/** Change of one ref by a push. */
@Entity('ref_updates')
@Check('ck_ref_updates_state', `state in ('intended', 'done', 'refused')`)
export class RefUpdateRow {
  @ForeignKey('pushes', { name: 'fk_ref_updates_push_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_ref_updates' })
  pushId: number;
  /** Full name, such as `refs/heads/main`. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_ref_updates' }) ref: string;
  /** Object ids; 40 zeros for a ref that is new or deleted. */
  @Column({ type: 'text' }) oldId: string;
  @Column({ type: 'text' }) newId: string;
  @Column({ type: 'text', default: 'intended' }) state: RefUpdateState;
  /** Number of pushed commits, and title of the newest one. Null until the update is done, and for deletions. */
  @Column({ type: 'integer', nullable: true }) commitCount: number | null;
  @Column({ type: 'text', nullable: true }) commitTitle: string | null;
  /** Whether feeds combine this update with others of its type and action into one entry. */
  @Column({ type: 'boolean', default: false }) isBulk: boolean;
  /** Time at which push options about merge requests were applied; null before, and for pushes without them. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) optionsAppliedAt: Date | null;
}

export const attachedPushes = declareAttachedTable({
  table: 'pushes',
  project: { column: 'project_id', because: 'a foreign key deletes pushes with the repository' },
  users: [{ column: 'user_id', onRemoval: 'ghost-or-null' }],
});
