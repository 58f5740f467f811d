import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Digests of Maven files and plugins of Maven groups. Source: reference packages-and-admin 4.6. */
export class CreateMaven1767225600030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table maven_files (
        file_id bigint constraint pk_maven_files primary key
          constraint fk_maven_files_file_id references package_files (id) on delete cascade,
        sha512 text not null,
        listed_files text[]
      )`);
    await runner.query(`
      create table maven_plugins (
        package_id bigint not null
          constraint fk_maven_plugins_package_id references packages (id) on delete cascade,
        artifact_id text not null constraint ck_maven_plugins_artifact_id check (char_length(artifact_id) <= 255),
        prefix text not null constraint ck_maven_plugins_prefix check (char_length(prefix) <= 255),
        name text not null constraint ck_maven_plugins_name check (char_length(name) <= 255),
        constraint pk_maven_plugins primary key (package_id, artifact_id)
      )`);
    await runner.query(`create index ix_packages_maven_name
      on packages (name_key, id) where package_type = 'maven' and status <> 'pending_destruction'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_packages_maven_name`);
    await runner.query(`drop table maven_plugins`);
    await runner.query(`drop table maven_files`);
  }
}
