import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** A removal of a user that has begun; the row is removed with the user. */
@Entity('user_removals')
export class UserRemoval {
  @ForeignKey('users', { name: 'fk_user_removals_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_user_removals' })
  userId: number;
  /** Whether the user's content, and groups that only they own, are removed too. */
  @Column({ type: 'boolean' }) hardDelete: boolean;
  @Column({ type: 'bigint', nullable: true }) actorId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) requestedAt: Date;
}
