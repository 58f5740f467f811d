import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import { Pipeline } from '../ci/pipelines/pipeline.entity';

export const EXPORT_TYPES = ['dependency_list', 'sbom', 'json_array', 'csv', 'cyclonedx_1_6_json'] as const;
export type ExportType = (typeof EXPORT_TYPES)[number];

/** An export of a dependency list. Source: reference packages-and-admin 6.1. */
@Entity('dependency_exports')
@Check('ck_dependency_exports_export_type', `export_type in (${EXPORT_TYPES.map((type) => `'${type}'`).join(', ')})`)
@Check('ck_dependency_exports_status', `status in ('created', 'running', 'finished', 'failed')`)
@Check('ck_dependency_exports_parent', 'num_nonnulls(project_id, group_id) = 1')
@Index('ix_dependency_exports_project_id', ['projectId'])
@Index('ix_dependency_exports_group_id', ['groupId'])
@Index('ix_dependency_exports_pipeline_id', ['pipelineId'])
@Index('ix_dependency_exports_sha256', ['sha256'])
@Index('ix_dependency_exports_expires_at', ['expiresAt'])
@Index('ix_dependency_exports_unfinished', ['createdAt'], { where: `status in ('created', 'running')` })
export class DependencyExport {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_dependency_exports',
  })
  id: number;
  /** Null for an export of a group. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint', nullable: true }) groupId: number | null;
  /** Set for an export of a pipeline, next to its project. */
  @Column({ type: 'bigint', nullable: true })
  @ForeignKey(() => Pipeline, { name: 'fk_dependency_exports_pipeline_id', onDelete: 'CASCADE' })
  pipelineId: number | null;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) exportType: ExportType;
  @Column({ type: 'boolean', default: false }) sendEmail: boolean;
  @Column({ type: 'text', default: 'created' }) status: 'created' | 'running' | 'finished' | 'failed';
  /** Key of the finished file. */
  @Column({ type: 'text', nullable: true }) sha256: string | null;
  /** Units: bytes. */
  @Column({ type: 'bigint', nullable: true }) size: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) finishedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3 }) expiresAt: Date;
}
