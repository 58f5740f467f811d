import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Pipeline } from '../pipelines/pipeline.entity';
import type { PipelineStatus } from '../pipelines/pipeline-statuses';

/** `job`: opened by an outside runner; `status`: reported by an outside CI. */
export type CiJobKind = 'job' | 'status';

/** A job or a reported status of a pipeline. Source: reference identity-and-import 7.4, 7.5. */
@Entity('ci_jobs')
@Check('ck_ci_jobs_kind', `kind in ('job', 'status')`)
@Check('ck_ci_jobs_name', 'char_length(name) <= 255')
@Check('ck_ci_jobs_stage', 'char_length(stage) <= 255')
@Check('ck_ci_jobs_description', 'char_length(description) <= 255')
@Check('ck_ci_jobs_target_url', 'char_length(target_url) <= 255')
@Check('ck_ci_jobs_token_digest', 'octet_length(token_digest) = 32')
@Check('ck_ci_jobs_status', `status in ('created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped')`)
@Unique('uq_ci_jobs_token_digest', ['tokenDigest'])
@Index('ix_ci_jobs_pipeline_id', ['pipelineId', 'id'])
@Index('ix_ci_jobs_project_id', ['projectId', 'id'])
@Index('ix_ci_jobs_project_id_job', ['projectId', 'id'], { where: `kind = 'job'` })
@Index('ix_ci_jobs_token_until', ['tokenUntil'], { where: `status = 'running'` })
export class CiJob {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_ci_jobs',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Pipeline, { name: 'fk_ci_jobs_pipeline_id', onDelete: 'CASCADE' })
  pipelineId: number;
  @Column({ type: 'text' }) kind: CiJobKind;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text' }) stage: string;
  /** The ref of the pipeline, or the ref that the outside CI named. */
  @Column({ type: 'text' }) ref: string;
  @Column({ type: 'text' }) status: PipelineStatus;
  /** A later job of the same name replaces it. */
  @Column({ type: 'boolean', default: false }) isRetried: boolean;
  /** The user who opened or reported it, and as whom its token acts. */
  @Column({ type: 'bigint', nullable: true }) userId: number | null;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text', nullable: true }) targetUrl: string | null;
  /** Units: percent. */
  @Column({ type: 'double precision', nullable: true }) coverage: number | null;
  @Column({ type: 'text', nullable: true }) failureReason: string | null;
  /** SHA-256 of the token of a running job of an outside runner. */
  @Column({ type: 'bytea', nullable: true }) tokenDigest: Buffer | null;
  /** End of the longest run. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) tokenUntil: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) queuedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) startedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
