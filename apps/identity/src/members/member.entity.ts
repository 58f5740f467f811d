import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A direct membership. It counts while today (UTC) is before `expires_on`. */
@Entity('members')
export class Member {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('bigint') user_id: number;
  @Column('text') source_type: 'namespace' | 'project';
  @Column('bigint') source_id: number;
  @Column('integer') access_level: number;
  @Column('date', { nullable: true }) expires_on: string | null;
  @Column('bigint', { nullable: true }) created_by_id: number | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
