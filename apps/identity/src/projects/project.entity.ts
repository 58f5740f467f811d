import type { Visibility } from '@rookery/kernel';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ProjectSettings } from './project-settings';

export type FeatureAccess = 'disabled' | 'private' | 'enabled';

/** A project. `settings` holds only what differs from the defaults. */
@Entity('projects')
export class Project {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('bigint') namespace_id: number;
  @Column('bigint', { nullable: true }) creator_id: number | null;
  @Column('text') name: string;
  @Column('text') path: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text') visibility: Visibility;
  @Column('boolean') archived: boolean;
  @Column('text') issues_access_level: FeatureAccess;
  @Column('text') snippets_access_level: FeatureAccess;
  @Column('text') merge_requests_access_level: FeatureAccess;
  @Column('boolean') packages_enabled: boolean;
  @Column('boolean') emails_enabled: boolean;
  @Column('text', { nullable: true }) default_branch: string | null;
  @Column('text', { nullable: true }) avatar_url: string | null;
  @Column('integer') star_count: number;
  @Column('integer') forks_count: number;
  @Column('bigint', { nullable: true }) forked_from_project_id: number | null;
  @Column('jsonb') settings: Partial<ProjectSettings>;
  @Column('text', { nullable: true }) runners_token: string | null;
  @Column('text', { nullable: true }) import_url: string | null;
  @Column('text', { nullable: true }) import_type: string | null;
  @Column('text') import_status: string;
  @Column('text', { nullable: true }) import_error: string | null;
  @Column('date', { nullable: true }) marked_for_deletion_on: string | null;
  @Column('timestamptz', { nullable: true }) marked_for_deletion_at: Date | null;
  @Column('timestamptz') last_activity_at: Date;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
