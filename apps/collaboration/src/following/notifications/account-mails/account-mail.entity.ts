import type { AccountMailTemplate, LeftOutSnippetsRequest } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { MailState } from '../mailer/mail-source';

export type LeftOutSnippet = LeftOutSnippetsRequest['snippets'][number];

/**
 * An e-mail about a user's account. Address, link and names are requested from identity when it is sent. Source: ADR 0082.
 */
@Entity('account_mails')
@Check('ck_account_mails_state', `state in ('queued', 'sent', 'failed', 'dropped')`)
@Index('uq_account_mails_source_event_id', ['sourceEventId', 'recipientId', 'template'], { unique: true })
@Index('ix_account_mails_queued', ['nextAttemptAt', 'id'], { where: `state = 'queued'` })
@Index('ix_account_mails_recipient_id', ['recipientId'])
@Index('ix_account_mails_unlooked', ['recipientId', 'nextAttemptAt', 'id'], {
  where: `state = 'queued' and allowed_at is null`,
})
export class AccountMail {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_account_mails',
  })
  id: number;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'bigint' }) recipientId: number;
  @Column({ type: 'text' }) template: AccountMailTemplate;
  @Column({ type: 'bigint' }) subjectId: number;
  /** Gists that were not imported, of the e-mail about them. */
  @Column({ type: 'jsonb', nullable: true }) leftOut: readonly LeftOutSnippet[] | null;
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
