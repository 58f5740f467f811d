import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Upstream ids of imported changes of issues and merge requests. Source: reference identity-and-import 6. */
export class MapImportedEvents1767225854590 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table imported_objects drop constraint ck_imported_objects_kind, add constraint ck_imported_objects_kind
        check (kind in ('milestone', 'release', 'issue', 'merge_request', 'note', 'diff_note', 'review', 'issue_event'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from imported_objects where kind = 'issue_event'`);
    await runner.query(`
      alter table imported_objects drop constraint ck_imported_objects_kind, add constraint ck_imported_objects_kind
        check (kind in ('milestone', 'release', 'issue', 'merge_request', 'note', 'diff_note', 'review'))`);
  }
}
