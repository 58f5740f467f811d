import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { MailReason } from './composing/mail-templates';
import type { MailState } from './mailer/mail-source';

/** An e-mail about a noteable or a note on it, waiting or done. Source: ADR 0082. */
@Entity('mails')
@Check('ck_mails_reason', `reason in ('own_activity', 'assigned', 'review_requested', 'mentioned', 'subscribed')`)
@Check('ck_mails_state', `state in ('queued', 'sent', 'failed', 'dropped', 'gathered')`)
@Index('uq_mails_source_event_id', ['sourceEventId', 'recipientId', 'template'], { unique: true })
@Index('uq_mails_named_once', ['noteableId', 'noteableType', 'recipientId'], {
  unique: true,
  where: `reason = 'mentioned' and note_id is null and template not like '%\\_reassigned'`,
})
@Index('ix_mails_queued', ['nextAttemptAt', 'id'], { where: `state = 'queued'` })
@Index('ix_mails_recipient_id', ['recipientId'])
@Index('ix_mails_put_off', ['recipientId', 'noteableId', 'noteableType', 'allowedAt'], {
  where: `state = 'queued' and claim is null and allowed_at is not null`,
})
@Index('ix_mails_unlooked', ['recipientId', 'nextAttemptAt', 'id'], {
  where: `state = 'queued' and allowed_at is null`,
})
@Index('ix_mails_gathered_into', ['gatheredInto'], { where: 'gathered_into is not null' })
export class Mail {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_mails',
  })
  id: number;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'bigint' }) recipientId: number;
  /** `issue_closed`: noun of the kind and kind of the message. */
  @Column({ type: 'text' }) template: string;
  @Column({ type: 'bigint' }) actorId: number;
  /** Null for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  @Column({ type: 'bigint', nullable: true }) noteId: number | null;
  @Column({ type: 'text', nullable: true }) reason: MailReason | null;
  /** Whether the recipient gets it only because they watch the project or group, by level or by a switch. */
  @Column({ type: 'boolean', default: false }) isWatching: boolean;
  /** Notes that the row covers if there are several, oldest first; `note_id` is the last of them. Else null. */
  @Column({ type: 'bigint', array: true, nullable: true }) noteIds: number[] | null;
  /** Ids only. */
  @Column({ type: 'jsonb', default: {} }) details: Readonly<Record<string, unknown>>;
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
  /** Id of the combined e-mail that covers it. */
  @Column({ type: 'bigint', nullable: true }) gatheredInto: number | null;
  /** W3C header of the span that queued it; null when nothing is traced. */
  @Column({ type: 'text', nullable: true }) traceparent: string | null;
}

/** A participant of a noteable other than its author and assignees. Source: ADR 0082. */
@Entity('participants')
@Index('ix_participants_project_id', ['projectId'])
@Index('ix_participants_user_id', ['userId'])
export class Participant {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_participants' }) noteableType: NoteableType;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_participants' }) noteableId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_participants' }) userId: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  /** The note that made them a participant; null: title or description. */
  @Column({ type: 'bigint', nullable: true }) noteId: number | null;
}

/** Allowance of a user: e-mails that they may get at once. Below 0 for postponed e-mails with a turn. Source: ADR 0082. */
@Entity('mail_allowances')
export class MailAllowance {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_mail_allowances' }) recipientId: number;
  @Column({ type: 'double precision' }) tokens: number;
  @Column({ type: 'timestamptz' }) refilledAt: Date;
}
