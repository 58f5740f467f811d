import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether the last check of a merge request found conflicts. Source: reference work-tracking 6.3. */
export class AddIsConflictingToMergeRequests1767225854220 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests add column is_conflicting boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests drop column is_conflicting');
  }
}
