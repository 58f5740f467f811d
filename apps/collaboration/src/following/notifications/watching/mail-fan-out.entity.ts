import type { NoteableType } from '@rookery/contracts';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Notice } from '../noteable-mail-enqueuer';

/** Notices that some users who watch the place still have to get. Source: ADR 0082. */
@Entity('mail_fan_outs')
export class MailFanOut {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_mail_fan_outs',
  })
  id: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  /** Notices of one project or group, without the users to whom they are addressed. */
  @Column({ type: 'jsonb' }) notices: readonly Notice[];
  /** Watchers up to this id have been notified. */
  @Column({ type: 'bigint' }) afterUserId: number;
}
