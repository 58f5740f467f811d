import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the settings of the stages of an import, and their progress. Source: reference identity-and-import 6.6, 6.8. */
export class AddStagesToImports1767225600101 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table project_imports
        add column api_url text,
        add column page_size integer not null default 100,
        add column is_optimistic boolean not null default false,
        add constraint ck_project_imports_page_size check (page_size between 1 and 100)`);
    await runner.query(`
      create table import_stages (
        import_id bigint not null
          constraint fk_import_stages_import_id references project_imports (id) on delete cascade,
        name text not null,
        is_done boolean not null default false,
        next_page text,
        pages integer not null default 0,
        fetched integer not null default 0,
        imported integer not null default 0,
        constraint pk_import_stages primary key (import_id, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table import_stages`);
    await runner.query(
      `alter table project_imports drop column api_url, drop column page_size, drop column is_optimistic`,
    );
  }
}
