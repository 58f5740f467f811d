import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Pipeline } from '../../ci/pipelines/pipeline.entity';

/** A name and a value in the metadata of a CycloneDX document. */
export interface ReportProperty {
  readonly name: string;
  readonly value: string;
}

/** A program that wrote a document. */
export interface ReportTool {
  readonly vendor: string | null;
  readonly name: string | null;
  readonly version: string | null;
}

/** A CycloneDX document that a job handed in. Source: reference packages-and-admin 6.4. */
@Entity('dependency_reports')
@Check('ck_dependency_reports_file_name', 'char_length(file_name) <= 255')
@Check('ck_dependency_reports_state', `state in ('pending', 'valid', 'invalid')`)
@Unique('uq_dependency_reports_job_id', ['jobId', 'fileName'])
@Index('ix_dependency_reports_project_id', ['projectId'])
@Index('ix_dependency_reports_pipeline_id', ['pipelineId', 'id'])
@Index('ix_dependency_reports_sha256', ['sha256'])
export class DependencyReport {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_dependency_reports',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Pipeline, { name: 'fk_dependency_reports_pipeline_id', onDelete: 'CASCADE' })
  pipelineId: number;
  @Column({ type: 'bigint' }) jobId: number;
  @Column({ type: 'text' }) fileName: string;
  /** Key of the content. */
  @Column({ type: 'text' }) sha256: string;
  /** Units: bytes. */
  @Column({ type: 'bigint' }) size: number;
  /** Pending until the document was read. Exports leave invalid documents out. */
  @Column({ type: 'text', default: 'pending' }) state: 'pending' | 'valid' | 'invalid';
  /** The reason why a document is invalid. */
  @Column({ type: 'text', nullable: true }) problem: string | null;
  /** Path of the file in the repository that the document describes, such as a lock file. */
  @Column({ type: 'text', nullable: true }) inputFile: string | null;
  @Column({ type: 'text', nullable: true }) packager: string | null;
  @Column({ type: 'jsonb', default: [] }) tools: ReportTool[];
  @Column({ type: 'jsonb', default: [] }) properties: ReportProperty[];
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
