import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the last try that made progress to imports. */
export class AddProgressTryToImports1767225600113 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports add column progress_try integer not null default 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports drop column progress_try`);
  }
}
