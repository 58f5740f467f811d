import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Number of links that a user has requested in the current hour. Loss in a crash is harmless. */
@Entity('email_confirmations')
export class EmailConfirmationRequestCount {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_email_confirmations' }) actorId: number;
  @Column({ type: 'timestamptz', precision: 3 }) since: Date;
  @Column({ type: 'integer' }) count: number;
}
