import type { DirectoryJobAdmission, ImportType } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { ProjectSettings } from './project-settings';

export type FeatureAccess = 'disabled' | 'private' | 'enabled';

/** A project. Triggers maintain the numbers of stars and forks (reference identity-and-import 10.2). */
@Entity('projects')
@Check('ck_projects_issues_access_level', `issues_access_level in ('disabled', 'private', 'enabled')`)
@Check('ck_projects_merge_requests_access_level', `merge_requests_access_level in ('disabled', 'private', 'enabled')`)
@Check('ck_projects_snippets_access_level', `snippets_access_level in ('disabled', 'private', 'enabled')`)
@Check('ck_projects_visibility', `visibility in ('private', 'internal', 'public')`)
@Index('ix_projects_creator_id', ['creatorId'])
@Index('ix_projects_forked_from_project_id', ['forkedFromProjectId', 'id'], {
  where: 'forked_from_project_id is not null',
})
@Index('uq_projects_import_key', ['importKey'], { unique: true, where: 'import_key is not null' })
@Index('ix_projects_last_activity_at', ['lastActivityAt', 'id'])
@Index('ix_projects_marked_for_deletion_on', ['markedForDeletionOn'], { where: 'marked_for_deletion_on is not null' })
@Index('ix_projects_name', ['name', 'id'])
@Index('ix_projects_namespace_id', ['namespaceId', 'id'])
@Index('ix_projects_namespace_id_last_activity_at', ['namespaceId', 'lastActivityAt', 'id'])
@Index('ix_projects_open_id', ['id'], { where: `visibility <> 'private'` })
@Index('ix_projects_path', ['path', 'id'])
@Index('ix_projects_public_id', ['id'], { where: `visibility = 'public'` })
@Index('ix_projects_star_count', ['starCount', 'id'])
@Index('ix_projects_updated_at', ['updatedAt', 'id'])
@Index('uq_projects_namespace_id_name', { synchronize: false })
@Index('uq_projects_namespace_id_path', { synchronize: false })
export class Project {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_projects',
  })
  id: number;
  @ForeignKey('namespaces', { name: 'fk_projects_namespace_id' })
  @Column({ type: 'bigint' })
  namespaceId: number;
  @ForeignKey('users', { name: 'fk_projects_creator_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  creatorId: number | null;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text' }) path: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text' }) visibility: Visibility;
  @Column({ type: 'boolean', default: false }) archived: boolean;
  @Column({ type: 'text', default: 'enabled' }) issuesAccessLevel: FeatureAccess;
  @Column({ type: 'text', default: 'enabled' }) snippetsAccessLevel: FeatureAccess;
  @Column({ type: 'text', default: 'enabled' }) mergeRequestsAccessLevel: FeatureAccess;
  @Column({ type: 'boolean', default: true }) packagesEnabled: boolean;
  @Column({ type: 'boolean', default: true }) emailsEnabled: boolean;
  @Column({ type: 'text', nullable: true }) defaultBranch: string | null;
  @Column({ type: 'text', nullable: true }) avatarUrl: string | null;
  @Column({ type: 'integer', default: 0 }) starCount: number;
  @Column({ type: 'integer', default: 0 }) forksCount: number;
  /** Only values that differ from the defaults. */
  @Column({ type: 'jsonb', default: {} }) settings: Partial<ProjectSettings>;
  @Column({ type: 'text', nullable: true }) runnersToken: string | null;
  @Column({ type: 'text', nullable: true }) importUrl: string | null;
  @Column({ type: 'text', nullable: true }) importType: ImportType | null;
  @Column({ type: 'text', default: 'none' }) importStatus: string;
  @Column({ type: 'text', nullable: true }) importError: string | null;
  /** Names the import of the project, for the import service. */
  @Column({ type: 'uuid', nullable: true }) importKey: string | null;
  @Column({ type: 'date', nullable: true }) markedForDeletionOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) markedForDeletionAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) lastActivityAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
  @ForeignKey('projects', { name: 'fk_projects_forked_from_project_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  forkedFromProjectId: number | null;
  /** The first project of the fork's network, which may be deleted; null for a project that is not a fork. */
  @Column({ type: 'bigint', nullable: true }) forkNetworkId: number | null;
  /** The only branch that the fork got; null for all. */
  @Column({ type: 'text', nullable: true }) forkedBranch: string | null;
  /** Whether the repository begins with a README. */
  @Column({ type: 'boolean', default: false }) initializeWithReadme: boolean;
  /** Other projects whose jobs may use this one with their tokens; null for none. */
  @Column({ type: 'jsonb', nullable: true }) jobAdmission: DirectoryJobAdmission | null;
}

/** The star of a user on a project. */
@Entity('project_stars')
@Index('ix_project_stars_project_id', ['projectId', 'createdAt', 'userId'])
export class ProjectStar {
  @ForeignKey('users', { name: 'fk_project_stars_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_project_stars' })
  userId: number;
  @ForeignKey('projects', { name: 'fk_project_stars_project_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_project_stars' })
  projectId: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** The row, as statements read it. */
export type ProjectRecord = RowOf<Project, keyof Project>;
