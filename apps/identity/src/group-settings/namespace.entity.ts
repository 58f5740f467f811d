import type { Visibility } from '@rookery/kernel';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { GroupSettings } from './group-settings';

/** A group, or the personal namespace of a user. `settings` holds only what differs from the defaults. */
@Entity('namespaces')
export class Namespace {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('text') kind: 'group' | 'user';
  @Column('bigint', { nullable: true }) owner_id: number | null;
  @Column('bigint', { nullable: true }) parent_id: number | null;
  /** Ids from the root down to this one, itself included. */
  @Column('bigint', { array: true }) traversal_ids: number[];
  @Column('text') name: string;
  @Column('text') path: string;
  @Column('text') full_name: string;
  @Column('text') full_path: string;
  @Column('text') description: string;
  @Column('text') visibility: Visibility;
  @Column('text', { nullable: true }) avatar_url: string | null;
  @Column('boolean') emails_enabled: boolean;
  @Column('text') plan: 'free' | 'premium' | 'ultimate';
  @Column('text') project_creation_level: string;
  @Column('text') subgroup_creation_level: string;
  @Column('boolean') request_access_enabled: boolean;
  @Column('jsonb') settings: Partial<GroupSettings>;
  @Column('text', { nullable: true }) runners_token: string | null;
  @Column('date', { nullable: true }) marked_for_deletion_on: string | null;
  @Column('timestamptz', { nullable: true }) marked_for_deletion_at: Date | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
