import { declareAttachedTable } from '@rookery/persistence';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A removed user whose person references are being handed over or removed. Source: ADR 0136. */
@Entity('user_departures')
@Check('ck_user_departures_heir', 'hard_delete or ghost_user_id is not null')
export class UserDeparture {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_user_departures' }) userId: number;
  /** Ghost user who becomes the author of their content; null if the content is deleted. */
  @Column({ type: 'bigint', nullable: true }) ghostUserId: number | null;
  @Column({ type: 'boolean' }) hardDelete: boolean;
  @Column({ type: 'integer', default: 1 }) round: number;
  @Column({ type: 'timestamptz', default: () => 'now()' }) nextAt: Date;
}

export const attachedDepartures = declareAttachedTable({
  table: 'user_departures',
  stays: {
    user_id: 'the row is the removal itself, and ends with it',
    ghost_user_id: 'the ghost user is never removed',
  },
});
