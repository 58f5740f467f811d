import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { MailState } from '../mailer/mail-source';
import type { ProjectOrGroupMailTemplate, ProjectMailTemplate } from './place-mail-templates';

/** An e-mail about a project, a group or a membership, waiting or done. Source: reference work-tracking 8.9; ADR 0082. */
@Entity('place_mails')
@Check('ck_place_mails_state', `state in ('queued', 'sent', 'failed', 'dropped')`)
@Check('ck_place_mails_place', 'num_nonnulls(project_id, group_id) = 1')
@Index('uq_place_mails_source_event_id', ['sourceEventId', 'recipientId', 'template'], { unique: true })
@Index('ix_place_mails_queued', ['nextAttemptAt', 'id'], { where: `state = 'queued'` })
@Index('ix_place_mails_recipient_id', ['recipientId'])
@Index('ix_place_mails_actor_id', ['actorId'])
@Index('ix_place_mails_limited', ['responsibleId', 'createdAt'], {
  where: `template in ('access_requested', 'member_added', 'member_changed')`,
})
@Index('ix_place_mails_moves', ['responsibleId', 'createdAt', 'sourceEventId'], { where: `template = 'moved_project'` })
@Index('ix_place_mails_unlooked', ['recipientId', 'nextAttemptAt', 'id'], {
  where: `state = 'queued' and allowed_at is null`,
})
export class ProjectOrGroupMail {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_place_mails',
  })
  id: number;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'bigint' }) recipientId: number;
  @Column({ type: 'text' }) template: ProjectOrGroupMailTemplate;
  /** Exactly one of project and group is set. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint', nullable: true }) groupId: number | null;
  @Column({ type: 'bigint', nullable: true }) actorId: number | null;
  /** The release, or the user who requests access. */
  @Column({ type: 'bigint', nullable: true }) subjectId: number | null;
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
  /** The user whose limits count it: the actor, or for a bot the user who created it. Null in rows of earlier releases. */
  @Column({ type: 'bigint', nullable: true }) responsibleId: number | null;
}

/** A notice of a project that some users still have to get. Source: ADR 0082. */
@Entity('place_mail_fan_outs')
@Index('ix_place_mail_fan_outs_actor_id', ['actorId'])
@Index('ix_place_mail_fan_outs_responsible_id', ['responsibleId'])
export class ProjectMailFanOut {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_place_mail_fan_outs',
  })
  id: number;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'text' }) template: ProjectMailTemplate;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint', nullable: true }) actorId: number | null;
  @Column({ type: 'bigint', nullable: true }) subjectId: number | null;
  /** Users up to this id have been notified. */
  @Column({ type: 'bigint', default: 0 }) afterUserId: number;
  /** The user whose limits count its e-mails. Null in rows of earlier releases. */
  @Column({ type: 'bigint', nullable: true }) responsibleId: number | null;
}
