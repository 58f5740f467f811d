import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Record of a requested job and its progress; kept for a week after its end. Source: ADR 0160. */
@Entity('background_jobs')
@Check('ck_background_jobs_state', `state in ('waiting', 'running', 'done', 'cancelled', 'dead')`)
@Index('ix_background_jobs_ended_at', ['endedAt'], { where: 'ended_at is not null' })
@Unique('uq_background_jobs_queued_id', ['queuedId'])
export class BackgroundJob {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', primaryKeyConstraintName: 'pk_background_jobs' }) id: number;
  /** The job's id in the queue, which deletes finished jobs. */
  @Column({ type: 'bigint' }) queuedId: number;
  @Column({ type: 'text' }) name: string;
  /** A job that failed and will be tried again is `waiting`. */
  @Column({ type: 'text', default: 'waiting' }) state: 'waiting' | 'running' | 'done' | 'cancelled' | 'dead';
  @Column({ type: 'integer', default: 0 }) tries: number;
  @Column({ type: 'bigint', default: 0 }) done: number;
  /** Null: unknown. */
  @Column({ type: 'bigint', nullable: true }) total: number | null;
  /** A short note on the current progress. */
  @Column({ type: 'text', nullable: true }) note: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) cancelAskedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) startedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) endedAt: Date | null;
}

/** A worker that takes jobs, with the time of its last heartbeat. Source: ADR 0160. */
@Entity('background_workers')
class BackgroundWorker {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_background_workers' }) id: string;
  @Column({ type: 'timestamptz', precision: 3 }) seenAt: Date;
}

/** Tables of the job library, for the comparison with the migrated schema. */
export const jobEntities = [BackgroundJob, BackgroundWorker];
