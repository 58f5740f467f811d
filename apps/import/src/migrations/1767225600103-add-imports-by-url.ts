import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Imports of git repositories by their URLs. Source: reference identity-and-import 10.2. */
export class AddImportsByUrl1767225600103 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote', 'git'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from project_imports where source = 'git'`);
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote'))`);
  }
}
