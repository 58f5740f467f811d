import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings of groups for packages. Source: reference packages-and-admin 4.7. */
export class CreatePackageSettings1767225600050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table package_settings (
        group_id bigint constraint pk_package_settings primary key,
        generic_duplicates_allowed boolean not null default true,
        generic_duplicate_exception_regex text not null default '',
        maven_duplicates_allowed boolean not null default true,
        maven_duplicate_exception_regex text not null default '',
        updated_at timestamptz(3) not null default now(),
        constraint ck_package_settings_generic_regex check (char_length(generic_duplicate_exception_regex) <= 255),
        constraint ck_package_settings_maven_regex check (char_length(maven_duplicate_exception_regex) <= 255)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table package_settings`);
  }
}
