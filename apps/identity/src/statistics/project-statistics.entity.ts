import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Figures about a project that other services report. Units: sizes are bytes. */
@Entity('project_statistics')
@Index('ix_project_statistics_packages_size', ['packagesSize', 'projectId'])
@Index('ix_project_statistics_repository_size', ['repositorySize', 'projectId'])
@Index('ix_project_statistics_storage_size', ['storageSize', 'projectId'])
@Index('ix_project_statistics_wiki_size', ['wikiSize', 'projectId'])
export class ProjectFigures {
  @ForeignKey('projects', { name: 'fk_project_statistics_project_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_project_statistics' })
  projectId: number;
  @Column({ type: 'integer', default: 0 }) openIssuesCount: number;
  /** Number of open issues that are not confidential. */
  @Column({ type: 'integer', default: 0 }) openPublicIssuesCount: number;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) issuesCountedAt: Date | null;
  @Column({ type: 'bigint', default: 0 }) commitCount: number;
  @Column({ type: 'bigint', default: 0 }) repositorySize: number;
  @Column({ type: 'bigint', default: 0 }) wikiSize: number;
  @Column({ type: 'bigint', default: 0 }) lfsObjectsSize: number;
  @Column({ type: 'bigint', default: 0 }) snippetsSize: number;
  @Column({ type: 'bigint', default: 0 }) uploadsSize: number;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) storageMeasuredAt: Date | null;
  @Column({ type: 'bigint', default: 0 }) packagesSize: number;
  @Column({ type: 'bigint', default: 0 }) jobArtifactsSize: number;
  @Column({ type: 'bigint', default: 0 }) pipelineArtifactsSize: number;
  @Column({ type: 'bigint', default: 0 }) containerRegistrySize: number;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) packagesMeasuredAt: Date | null;
  @Column({
    type: 'bigint',
    generatedType: 'STORED',
    asExpression:
      '(((((((repository_size + wiki_size) + lfs_objects_size) + snippets_size) + uploads_size) + packages_size) + job_artifacts_size) + pipeline_artifacts_size)',
    insert: false,
    update: false,
  })
  storageSize: number;
}
