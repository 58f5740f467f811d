import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Names the import of a project, so that a repeated request creates no second one. Source: reference identity-and-import 6. */
export class AddImportKeysToProjects1767225600161 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table projects add column import_key uuid`);
    await runner.query(
      `create unique index uq_projects_import_key on projects (import_key) where import_key is not null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table projects drop column import_key`);
  }
}
