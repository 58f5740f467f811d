import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { PipelineSource, PipelineStatus } from './pipeline-statuses';

/**
 * A run of an outside CI on a commit. Its status, times and coverage are derived from its jobs. Source: reference
 * identity-and-import 7.3.
 */
@Entity('pipelines')
@Check('ck_pipelines_sha', `sha ~ '^[0-9a-f]{40}$'`)
@Check('ck_pipelines_ref', 'char_length(ref) <= 255')
@Check('ck_pipelines_status', `status in ('created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped')`)
@Check('ck_pipelines_last_outcome', `last_outcome in ('success', 'failed')`)
@Check('ck_pipelines_source', `source in ('api', 'external', 'merge_request_event', 'pipeline', 'push', 'trigger')`)
@Unique('uq_pipelines_iid', ['projectId', 'iid'])
@Index('ix_pipelines_project_id', ['projectId', 'id'])
@Index('ix_pipelines_project_id_ref', ['projectId', 'ref', 'id'])
@Index('ix_pipelines_project_id_sha', ['projectId', 'sha', 'id'])
@Index('ix_pipelines_project_id_status', ['projectId', 'status', 'id'])
@Index('uq_pipelines_push_id', ['pushId', 'ref', 'isTag'], { unique: true, where: 'push_id is not null' })
@Index('ix_pipelines_project_id_updated_at', ['projectId', 'updatedAt', 'id'])
export class Pipeline {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_pipelines',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'text' }) sha: string;
  /** Short name of the branch or tag, or the text that an outside CI named. */
  @Column({ type: 'text' }) ref: string;
  @Column({ type: 'boolean' }) isTag: boolean;
  @Column({ type: 'text', default: 'created' }) status: PipelineStatus;
  /** The last success or failure, kept while jobs are retried. Null also for pipelines of earlier releases. */
  @Column({ type: 'text', nullable: true }) lastOutcome: 'success' | 'failed' | null;
  @Column({ type: 'text' }) source: PipelineSource;
  /** The user as whom the pipeline runs. */
  @Column({ type: 'bigint', nullable: true }) userId: number | null;
  @Column({ type: 'jsonb', default: {} }) inputs: Record<string, unknown>;
  /** The job whose token started the pipeline. */
  @Column({ type: 'bigint', nullable: true }) upstreamJobId: number | null;
  /** The push that started the pipeline. */
  @Column({ type: 'bigint', nullable: true }) pushId: number | null;
  /** Mean of the jobs that have one. Units: percent. */
  @Column({ type: 'double precision', nullable: true }) coverage: number | null;
  /** Time during which at least one job ran. Units: seconds. */
  @Column({ type: 'integer', nullable: true }) duration: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) committedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) startedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
