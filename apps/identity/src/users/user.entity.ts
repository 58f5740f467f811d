import type { USER_STATES } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

export type UserState = (typeof USER_STATES)[number];
export type UserKind = 'human' | 'project_bot' | 'service_account' | 'placeholder' | 'ghost';

/** Profile of a user. All fields are optional. Source: reference identity-and-import 10.1. */
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

/** Default of the maximum number of projects in a personal namespace. */
export const PROJECTS_LIMIT = 100_000;

/** A human user or a bot. */
@Entity('users')
@Check('ck_users_kind', `kind in ('human', 'project_bot', 'service_account', 'placeholder', 'ghost')`)
@Check('ck_users_state', `state in ('active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval')`)
@Index('ix_users_admin', ['id'], { where: 'admin' })
@Index('ix_users_created_at', ['createdAt', 'id'])
@Index('ix_users_created_by_id', ['createdById'])
@Index('ix_users_name', ['name', 'id'])
@Index('ix_users_project_bots', ['id'], { where: `kind = 'project_bot'` })
@Index('ix_users_updated_at', ['updatedAt', 'id'])
@Index('ix_users_username_id', ['username', 'id'])
@Index('uq_users_ghost', ['kind'], { unique: true, where: `kind = 'ghost'` })
@Index('uq_users_username', { synchronize: false })
export class User {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_users',
  })
  id: number;
  @Column({ type: 'text' }) username: string;
  @Column({ type: 'text' }) name: string;
  /** The primary address, as in `emails`. */
  @Column({ type: 'text' }) email: string;
  /** Time when the first primary address was confirmed. Null: the user cannot act yet. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) confirmedAt: Date | null;
  @Column({ type: 'text', default: 'active' }) state: UserState;
  @Column({ type: 'text', default: 'human' }) kind: UserKind;
  @Column({ type: 'boolean', default: false }) admin: boolean;
  @Column({ type: 'boolean', default: false }) external: boolean;
  @Column({ type: 'boolean', default: false }) privateProfile: boolean;
  @Column({ type: 'text', nullable: true }) avatarUrl: string | null;
  @Column({ type: 'text', nullable: true }) publicEmail: string | null;
  @Column({ type: 'text', nullable: true }) commitEmail: string | null;
  /** The address for notifications if it is not the primary one. */
  @Column({ type: 'text', nullable: true }) notificationEmail: string | null;
  /** Null for users without a password. */
  @Column({ type: 'text', nullable: true, select: false }) passwordDigest: string | null;
  @Column({ type: 'boolean', default: true }) canCreateGroup: boolean;
  @Column({ type: 'integer', default: PROJECTS_LIMIT }) projectsLimit: number;
  @Column({ type: 'text', nullable: true }) note: string | null;
  @Column({ type: 'jsonb', default: {} }) profile: Profile;
  @ForeignKey('users', { name: 'fk_users_created_by', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  createdById: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) lastSignInAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) currentSignInAt: Date | null;
  @Column({ type: 'integer', default: 0 }) signInCount: number;
  @Column({ type: 'date', nullable: true }) lastActivityOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** The name of a user at a sign-in provider. */
@Entity('identities')
@Unique('uq_identities_provider_extern_uid', ['provider', 'externUid'])
@Unique('uq_identities_user_id_provider', ['userId', 'provider'])
export class Identity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_identities',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_identities_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  @Column({ type: 'text' }) provider: string;
  @Column({ type: 'text' }) externUid: string;
}

/** The row, as statements read it. */
export type UserRecord = RowOf<User, keyof User>;

/** Fields that a summary of a user shows. */
export type UserSummary = RowOf<User, 'id' | 'username' | 'name' | 'state' | 'avatarUrl' | 'publicEmail'>;
/** A user, as statements read it. */
export interface UserRow extends RowOf<User, Exclude<keyof User, 'passwordDigest'>> {
  readonly namespace_id: number | null;
  readonly plan: string | null;
  readonly created_by: UserSummary | null;
  readonly identities: readonly RowOf<Identity, 'provider' | 'externUid'>[];
  /** Only if an administrator requested them. */
  readonly custom_attributes?: readonly { key: string; value: string }[] | null;
}
