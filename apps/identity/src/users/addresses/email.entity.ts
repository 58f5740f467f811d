import type { RowOf } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';

/** An e-mail address of a user. */
@Entity('emails')
@Check('ck_emails_becomes_primary', 'not becomes_primary or (not is_primary and confirmed_at is null)')
@Index('ix_emails_unconfirmed', ['id'], { where: 'confirmed_at is null' })
@Index('ix_emails_user_id', ['userId'])
@Index('uq_emails_email', { synchronize: false })
@Index('uq_emails_user_id_becomes_primary', ['userId'], { unique: true, where: 'becomes_primary' })
@Index('uq_emails_user_id_primary', ['userId'], { unique: true, where: 'is_primary' })
export class Email {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_emails',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_emails_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  @Column({ type: 'text' }) email: string;
  @Column({ type: 'boolean', default: false }) isPrimary: boolean;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) confirmedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  /** Time when the newest link was sent. Earlier links are invalid. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) confirmationRequestedAt: Date | null;
  /** Replaces the primary address once it is confirmed. */
  @Column({ type: 'boolean', default: false }) becomesPrimary: boolean;
}

/** The row, as statements read it. */
export type EmailRecord = RowOf<Email, keyof Email>;
