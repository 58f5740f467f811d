import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Upstream ids of imported releases. Source: reference identity-and-import 6. */
export class MapImportedReleases1767225854401 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table imported_objects drop constraint ck_imported_objects_kind, add constraint ck_imported_objects_kind
        check (kind in ('milestone', 'release', 'issue', 'merge_request', 'note', 'diff_note', 'review'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from imported_objects where kind = 'release'`);
    await runner.query(`
      alter table imported_objects drop constraint ck_imported_objects_kind, add constraint ck_imported_objects_kind
        check (kind in ('milestone', 'issue', 'merge_request', 'note', 'diff_note', 'review'))`);
  }
}
