import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many links somebody had sent in the present hour; lost in a crash without harm. */
@Entity('email_confirmations')
export class EmailConfirmationCount {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_email_confirmations' }) actorId: number;
  @Column({ type: 'timestamptz', precision: 3 }) since: Date;
  @Column({ type: 'integer' }) count: number;
}
