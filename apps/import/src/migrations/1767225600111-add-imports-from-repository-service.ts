import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Imports from the repository service. Source: reference identity-and-import 6.5. */
export class AddImportsFromRepositoryService1767225600111 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote', 'git', 'repohost_server', 'repohost'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from project_imports where source = 'repohost'`);
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote', 'git', 'repohost_server'))`);
  }
}
