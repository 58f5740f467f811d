import { attachedTo } from '@rookery/persistence';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Somebody who is gone and whose traces are being worked off. Source: ADR 0136. */
@Entity('user_departures')
@Check('ck_user_departures_heir', 'hard_delete or ghost_user_id is not null')
export class UserDeparture {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_user_departures' }) userId: number;
  /** Who gets what they wrote; null where it goes with them. */
  @Column({ type: 'bigint', nullable: true }) ghostUserId: number | null;
  @Column({ type: 'boolean' }) hardDelete: boolean;
  @Column({ type: 'integer', default: 1 }) round: number;
  @Column({ type: 'timestamptz', default: () => 'now()' }) nextAt: Date;
}

export const attachedDepartures = attachedTo({
  table: 'user_departures',
  stays: {
    user_id: 'the row is the removal itself, and ends with it',
    ghost_user_id: 'the ghost user is never removed',
  },
});
