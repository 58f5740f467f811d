import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Stored data of the licence that every instance has. Source: reference packages-and-admin 10.4. */
@Entity('licenses')
@Check('ck_licenses_id', 'id = 1')
export class License {
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_licenses' }) id: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  /** Highest number of active users, measured whenever the licence is requested. */
  @Column({ type: 'integer', default: 0 }) historicalMax: number;
}
