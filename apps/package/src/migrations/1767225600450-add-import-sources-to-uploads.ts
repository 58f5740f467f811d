import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the upload of an imported file by its upstream address. Source: ADR 0202. */
export class AddImportSourcesToUploads1767225600450 implements MigrationInterface {
  readonly name = 'AddImportSourcesToUploads1767225600450';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table uploads add column import_source text;
      alter table uploads add constraint uq_uploads_import_source unique (project_id, import_source);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table uploads drop column import_source');
  }
}
