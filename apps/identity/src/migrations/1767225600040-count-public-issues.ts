import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Open issues come as whole values, with the number of those that are not confidential (ADR 0110). What was summed up
 * until now stays as it is until a project is counted anew; nothing that is not counted yet is shown to everybody.
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
