import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Figures of a project that other services have measured and counted (ADR 0110). Sizes are bytes. A row appears with
 * the first figure; no row means that all are zero. `storage_size` is the sum of all sizes except that of the container
 * registry.
 */
export class CreateProjectStatistics1767225600011 implements MigrationInterface {
  readonly name = 'CreateProjectStatistics1767225600011';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table project_statistics (
        project_id bigint not null,
        open_issues_count integer not null default 0,
        commit_count bigint not null default 0,
        repository_size bigint not null default 0,
        wiki_size bigint not null default 0,
        lfs_objects_size bigint not null default 0,
        snippets_size bigint not null default 0,
        uploads_size bigint not null default 0,
        storage_measured_at timestamptz(3),
        packages_size bigint not null default 0,
        job_artifacts_size bigint not null default 0,
        pipeline_artifacts_size bigint not null default 0,
        container_registry_size bigint not null default 0,
        packages_measured_at timestamptz(3),
        storage_size bigint not null generated always as (repository_size + wiki_size + lfs_objects_size + snippets_size
          + uploads_size + packages_size + job_artifacts_size + pipeline_artifacts_size) stored,
        constraint pk_project_statistics primary key (project_id),
        constraint fk_project_statistics_project_id foreign key (project_id) references projects (id) on delete cascade
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table project_statistics`);
  }
}
