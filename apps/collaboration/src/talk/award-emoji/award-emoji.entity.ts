import type { NoteableType } from '@rookery/contracts';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Types of targets of emoji: noteables and notes. */
export type AwardableType = NoteableType | 'Note';

/** Emoji that a user awarded. Source: reference work-tracking 9.6. */
@Entity('award_emoji')
@Index('uq_award_emoji_name', ['awardableId', 'awardableType', 'userId', 'name'], { unique: true })
@Index('ix_award_emoji_awardable', ['awardableId', 'awardableType', 'id'])
@Index('ix_award_emoji_user_id', ['userId', 'noteableId', 'noteableType'])
@Index('ix_award_emoji_noteable', ['noteableId', 'noteableType'])
@Index('ix_award_emoji_project_id', ['projectId'], { where: 'project_id is not null' })
export class AwardEmoji {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_award_emoji',
  })
  id: number;
  @Column({ type: 'text' }) awardableType: AwardableType;
  @Column({ type: 'bigint' }) awardableId: number;
  /** The noteable that access depends on: the target itself, or the noteable of a note. */
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) userId: number;
  /** Canonical name of the emoji, without colons. */
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
