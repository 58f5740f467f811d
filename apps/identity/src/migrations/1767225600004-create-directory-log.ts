import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The directory's change log: one row that counts versions, and full states by version. The counter is a row and not
 * a sequence, because its lock makes the order of versions the order of commits. Source: ADR 0041.
 */
export class CreateDirectoryLog1767225600004 implements MigrationInterface {
  readonly name = 'CreateDirectoryLog1767225600004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table directory_head (
        id boolean not null default true,
        version bigint not null default 0,
        epoch text not null default replace(gen_random_uuid()::text, '-', ''),
        compacted_to bigint not null default 0,
        constraint pk_directory_head primary key (id),
        constraint ck_directory_head_single check (id)
      ) with (fillfactor = 10)`);
    await queryRunner.query(`insert into directory_head default values`);
    await queryRunner.query(`
      create table directory_changes (
        version bigint not null,
        ordinal integer not null,
        kind text not null,
        entity_id bigint not null,
        state jsonb,
        created_at timestamptz(3) not null default statement_timestamp(),
        constraint pk_directory_changes primary key (version, ordinal)
      )`);
    await queryRunner.query(`create index ix_directory_changes_entity on directory_changes (kind, entity_id, version)`);
    await queryRunner.query(`create index ix_directory_changes_created_at on directory_changes (created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table directory_changes, directory_head`);
  }
}
