import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { MailState } from '../mailer/mail-source';
import type { PipelineMailTemplate } from './compose-pipeline-mail';

/** An e-mail about a finished pipeline, waiting or done. Source: reference work-tracking 8.4; ADR 0082. */
@Entity('pipeline_mails')
@Check('ck_pipeline_mails_state', `state in ('queued', 'sent', 'failed', 'dropped')`)
@Index('uq_pipeline_mails_source_event_id', ['sourceEventId', 'recipientId', 'template'], { unique: true })
@Index('ix_pipeline_mails_queued', ['nextAttemptAt', 'id'], { where: `state = 'queued'` })
@Index('ix_pipeline_mails_recipient_id', ['recipientId'])
@Index('ix_pipeline_mails_unlooked', ['recipientId', 'nextAttemptAt', 'id'], {
  where: `state = 'queued' and allowed_at is null`,
})
export class PipelineMail {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_pipeline_mails',
  })
  id: number;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'bigint' }) recipientId: number;
  @Column({ type: 'text' }) template: PipelineMailTemplate;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) pipelineId: number;
  @Column({ type: 'bigint' }) pipelineIid: number;
  @Column({ type: 'text' }) ref: string;
  @Column({ type: 'boolean' }) isTag: boolean;
  @Column({ type: 'text' }) sha: string;
  @Column({ type: 'text', default: 'queued' }) state: MailState;
  @Column({ type: 'integer', default: 0 }) attempts: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) nextAttemptAt: Date;
  @Column({ type: 'text', nullable: true }) smtpReply: string | null;
  @Column({ type: 'text', nullable: true }) messageId: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) sentAt: Date | null;
  /** Id of the batch that took it last. */
  @Column({ type: 'uuid', nullable: true }) claim: string | null;
  /** Time at which the allowance of its recipient permits it. Null until the allowance was charged. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) allowedAt: Date | null;
  /** W3C header of the span that queued it; null when nothing is traced. */
  @Column({ type: 'text', nullable: true }) traceparent: string | null;
}
