import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export type UserState = 'active' | 'blocked' | 'deactivated' | 'banned' | 'blocked_pending_approval';
export type UserKind = 'human' | 'project_bot' | 'service_account' | 'placeholder' | 'ghost';

/** What people say of themselves; every field may be missing. Source: reference identity-and-import 10.1. */
export interface Profile {
  bio?: string | null;
  location?: string | null;
  linkedin?: string | null;
  twitter?: string | null;
  discord?: string | null;
  github?: string | null;
  website_url?: string | null;
  organization?: string | null;
  job_title?: string | null;
  pronouns?: string | null;
  view_diffs_file_by_file?: boolean | null;
  theme_id?: number | null;
  color_scheme_id?: number | null;
}
export const PROFILE_TEXTS = [
  'bio',
  'location',
  'linkedin',
  'twitter',
  'discord',
  'github',
  'website_url',
  'organization',
  'job_title',
  'pronouns',
] as const;

/** A person or a bot. Property names are column names, so that rows of hand-written SQL have this shape too. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('text') username: string;
  @Column('text') name: string;
  @Column('text') email: string;
  @Column('timestamptz', { nullable: true }) confirmed_at: Date | null;
  @Column('text') state: UserState;
  @Column('text') kind: UserKind;
  @Column('boolean') admin: boolean;
  @Column('boolean') external: boolean;
  @Column('boolean') private_profile: boolean;
  @Column('text', { nullable: true }) avatar_url: string | null;
  @Column('text', { nullable: true }) public_email: string | null;
  @Column('text', { nullable: true }) commit_email: string | null;
  @Column('text', { nullable: true, select: false }) password_digest: string | null;
  @Column('boolean') can_create_group: boolean;
  @Column('integer') projects_limit: number;
  @Column('text', { nullable: true }) note: string | null;
  @Column('jsonb') profile: Profile;
  @Column('bigint', { nullable: true }) created_by_id: number | null;
  @Column('timestamptz', { nullable: true }) last_sign_in_at: Date | null;
  @Column('timestamptz', { nullable: true }) current_sign_in_at: Date | null;
  @Column('integer') sign_in_count: number;
  @Column('date', { nullable: true }) last_activity_on: string | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
