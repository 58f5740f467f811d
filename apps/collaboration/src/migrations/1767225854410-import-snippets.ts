import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Imported personal snippets, and the texts of e-mails about those left out. Source: reference identity-and-import 6.9. */
export class ImportSnippets1767225854410 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table imported_snippets (
        author_id bigint not null,
        source text not null,
        upstream_id text not null,
        snippet_id bigint not null
          constraint fk_imported_snippets_snippet_id references snippets (id) on delete cascade,
        constraint pk_imported_snippets primary key (author_id, source, upstream_id)
      )`);
    await runner.query('create index ix_imported_snippets_snippet_id on imported_snippets (snippet_id)');
    await runner.query('alter table account_mails add column left_out jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table account_mails drop column left_out');
    await runner.query('drop table imported_snippets');
  }
}
