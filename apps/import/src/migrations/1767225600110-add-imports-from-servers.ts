import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Imports from repository servers. Source: reference identity-and-import 6.4. */
export class AddImportsFromServers1767225600110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote', 'git', 'repohost_server'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from project_imports where source = 'repohost_server'`);
    await runner.query(`
      alter table project_imports drop constraint ck_project_imports_source,
        add constraint ck_project_imports_source check (source in ('remote', 'git'))`);
  }
}
