import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { MailReason } from './composing/mail-templates';
import type { MailState } from './mailer/mail-source';

/** An e-mail about a thing or a note on it, waiting or done. Source: ADR 0082. */
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
  /** `issue_closed`: the noun of the kind and what is told. */
  @Column({ type: 'text' }) template: string;
  @Column({ type: 'bigint' }) actorId: number;
  /** Null for things of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  @Column({ type: 'bigint', nullable: true }) noteId: number | null;
  @Column({ type: 'text', nullable: true }) reason: MailReason | null;
  /** Several notes that one row tells of, oldest first; `note_id` is the last of them. Null where it tells of one thing. */
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
  /** The batch in which it was taken last. */
  @Column({ type: 'uuid', nullable: true }) claim: string | null;
  /** When the allowance of its recipient lets it go. Null until it was looked at. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) allowedAt: Date | null;
  /** The e-mail of several that tells of it. */
  @Column({ type: 'bigint', nullable: true }) gatheredInto: number | null;
}

/** Somebody who takes part in a thing besides its author and assignees. Source: ADR 0082. */
@Entity('participants')
@Index('ix_participants_project_id', ['projectId'])
@Index('ix_participants_user_id', ['userId'])
export class Participant {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_participants' }) noteableType: NoteableType;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_participants' }) noteableId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_participants' }) userId: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  /** The note by which they take part; null: title or description. */
  @Column({ type: 'bigint', nullable: true }) noteId: number | null;
}

/** How many e-mails somebody may get at once; below 0, turns that were given. Source: ADR 0082. */
@Entity('mail_allowances')
export class MailAllowance {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_mail_allowances' }) recipientId: number;
  @Column({ type: 'double precision' }) tokens: number;
  @Column({ type: 'timestamptz' }) refilledAt: Date;
}

/** How much somebody wants to be told, in general or of one group or project. Source: reference work-tracking 8.1. */
@Entity('notification_settings')
@Check('ck_notification_settings_source_type', `source_type in ('global', 'namespace', 'project')`)
@Check(
  'ck_notification_settings_level',
  `level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')`,
)
export class NotificationSetting {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_notification_settings' }) userId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_notification_settings' })
  sourceType: 'global' | 'namespace' | 'project';
  /** 0 for the general one. */
  @PrimaryColumn({ type: 'bigint', default: 0, primaryKeyConstraintName: 'pk_notification_settings' }) sourceId: number;
  @Column({ type: 'text' }) level: 'disabled' | 'participating' | 'watch' | 'global' | 'mention' | 'custom';
  @Column({ type: 'text', nullable: true }) notificationEmail: string | null;
  @Column({ type: 'jsonb', default: {} }) switches: Readonly<Record<string, boolean>>;
}
