import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * Copy of a pipeline of the package service. A deleted one stays as a mark, since its events may arrive late. Source:
 * reference repositories 8.16.
 */
@Entity('ci_pipelines')
@Index('ix_ci_pipelines_project_id_sha', ['projectId', 'sha', 'id'])
@Index('ix_ci_pipelines_user_id', ['userId'], { where: 'user_id is not null' })
export class CiPipeline {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_ci_pipelines' }) id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint', default: 0 }) iid: number;
  @Column({ type: 'text', default: '' }) sha: string;
  @Column({ type: 'text', default: '' }) ref: string;
  @Column({ type: 'boolean', default: false }) isTag: boolean;
  @Column({ type: 'text', default: '' }) source: string;
  @Column({ type: 'text', default: '' }) status: string;
  @Column({ type: 'bigint', nullable: true }) userId: number | null;
  @Column({ type: 'text', nullable: true }) coverage: string | null;
  /** Units: seconds. */
  @Column({ type: 'integer', nullable: true }) duration: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) committedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) startedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
  @Column({ type: 'boolean', default: false }) isDeleted: boolean;
}
