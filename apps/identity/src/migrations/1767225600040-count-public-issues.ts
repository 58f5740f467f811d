import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Open issues are reported as absolute values, with the number of those that are not confidential (ADR 0110). Previous
 * sums stay until a project is counted again. Issues that are not counted yet are not shown to callers who may not read
 * confidential ones.
 */
export class CountPublicIssues1767225600040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_statistics add column open_public_issues_count integer not null default 0,
        add column issues_counted_at timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_statistics drop column open_public_issues_count, drop column issues_counted_at`);
  }
}
