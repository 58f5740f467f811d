import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Upstream ids of imported objects, so that a repeated import changes nothing. Source: reference identity-and-import 6. */
export class CreateImportedObjects1767225854200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table imported_objects (
        project_id bigint not null,
        kind text not null constraint ck_imported_objects_kind check (kind in ('milestone', 'issue', 'note')),
        upstream_id bigint not null,
        object_id bigint not null,
        constraint pk_imported_objects primary key (project_id, kind, upstream_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table imported_objects`);
  }
}
