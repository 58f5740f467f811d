import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the upload of an imported file by its upstream address. Source: ADR 0202. */
export class AddImportSourcesToUploads1767225600450 implements MigrationInterface {
  readonly name = 'AddImportSourcesToUploads1767225600450';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table uploads add column if not exists import_source text');
    // One that was begun before and not finished is of no use.
    await runner.query('alter table uploads drop constraint if exists uq_uploads_import_source');
    await runner.query('drop index concurrently if exists uq_uploads_import_source');
    // Concurrently, because projects take uploads meanwhile.
    await runner.query(
      'create unique index concurrently uq_uploads_import_source on uploads (project_id, import_source)',
    );
    await runner.query(
      'alter table uploads add constraint uq_uploads_import_source unique using index uq_uploads_import_source',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table uploads drop column import_source');
  }
}
