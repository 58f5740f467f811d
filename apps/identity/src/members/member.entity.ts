import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Kinds of resources that have members, as tables name them. */
export type SourceType = 'namespace' | 'project';

/** A direct membership. It has effect while today (UTC) is before `expiresOn`. */
@Entity('members')
@Check('ck_members_access_level', 'access_level in (5, 10, 15, 20, 30, 40, 50)')
@Check('ck_members_source_type', `source_type in ('namespace', 'project')`)
@Index('ix_members_created_by_id', ['createdById'])
@Index('ix_members_expires_on', ['expiresOn'], { where: 'expires_on is not null' })
@Index('ix_members_source', ['sourceType', 'sourceId', 'id'])
@Index('ix_members_user_id', { synchronize: false })
@Unique('uq_members_source_user', ['sourceType', 'sourceId', 'userId'])
@Index('ix_members_source_at_top', { synchronize: false })
@Index('ix_members_user_id_source_name', { synchronize: false })
@Index('ix_members_user_id_source_path', { synchronize: false })
@Index('ix_members_leads_further', { synchronize: false })
export class Member {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_members',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_members_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  @Column({ type: 'text' }) sourceType: SourceType;
  @Column({ type: 'bigint' }) sourceId: number;
  @Column({ type: 'integer' }) accessLevel: number;
  @Column({ type: 'date', nullable: true }) expiresOn: string | null;
  @ForeignKey('users', { name: 'fk_members_created_by_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  createdById: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
  /** Name of the group. Maintained by a trigger. Source: ADR 0063. */
  @Column({ type: 'text', default: '' }) sourceName: string;
  /** Path of the group. Maintained by a trigger. Source: ADR 0063. */
  @Column({ type: 'text', default: '' }) sourcePath: string;
  /** Whether the group is at the top level. Maintained by a trigger. Source: ADR 0063. */
  @Column({ type: 'boolean', default: false }) sourceAtTop: boolean;
  /** Whether the group has ever had a subgroup or been invited elsewhere. Maintained by a trigger. Source: ADR 0063. */
  @Column({ type: 'boolean', default: false }) leadsFurther: boolean;
}

/** A user's request for access to a group or project. */
@Entity('access_requests')
@Check('ck_access_requests_one', 'num_nonnulls(namespace_id, project_id) = 1')
@Index('ix_access_requests_namespace_id', ['namespaceId', 'id'])
@Index('ix_access_requests_project_id', ['projectId', 'id'])
@Index('ix_access_requests_user_id', ['userId'])
@Unique('uq_access_requests_namespace_id_user_id', ['namespaceId', 'userId'])
@Unique('uq_access_requests_project_id_user_id', ['projectId', 'userId'])
export class AccessRequest {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_access_requests',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_access_requests_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  @ForeignKey('namespaces', { name: 'fk_access_requests_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @ForeignKey('projects', { name: 'fk_access_requests_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) requestedAt: Date;
}

/**
 * An invited group: its members have access to another group or a project, with at most this level, while today is
 * before `expiresOn`.
 */
@Entity('shares')
@Check('ck_shares_access_level', 'access_level in (10, 15, 20, 30, 40, 50)')
@Check('ck_shares_source_type', `source_type in ('namespace', 'project')`)
@Index('ix_shares_expires_on', ['expiresOn'], { where: 'expires_on is not null' })
@Index('ix_shares_group_id', ['groupId'])
@Unique('uq_shares_source_group', ['sourceType', 'sourceId', 'groupId'])
export class Share {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_shares',
  })
  id: number;
  @Column({ type: 'text' }) sourceType: SourceType;
  @Column({ type: 'bigint' }) sourceId: number;
  @ForeignKey('namespaces', { name: 'fk_shares_group_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  groupId: number;
  @Column({ type: 'integer' }) accessLevel: number;
  @Column({ type: 'date', nullable: true }) expiresOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
