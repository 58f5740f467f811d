import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Uploads of all formats note whether they were answered, and the index of a project's files serves sums of their sizes.
 * Source: reference packages-and-admin 4.1.
 */
export class NoteUnansweredUploads1767225600051 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table package_files add column unanswered_token_id bigint`);
    await runner.query(`alter table pypi_files drop column token_id, drop column acknowledged_at`);
    await runner.query(`drop index ix_package_files_project_id`);
    await runner.query(`create index ix_package_files_project_id
      on package_files (project_id, is_pending_destruction, size)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_package_files_project_id`);
    await runner.query(`create index ix_package_files_project_id on package_files (project_id)`);
    await runner.query(`alter table pypi_files add column token_id bigint, add column acknowledged_at timestamptz(3)`);
    await runner.query(`alter table package_files drop column unanswered_token_id`);
  }
}
