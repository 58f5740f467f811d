import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Versions of NuGet packages, and the settings for their duplicates. Source: reference packages-and-admin 4.7, 4.9. */
export class CreateNugetVersions1767225600401 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table nuget_versions (
        package_id bigint constraint pk_nuget_versions primary key
          constraint fk_nuget_versions_package_id references packages (id) on delete cascade,
        project_id bigint not null,
        name_key text not null,
        version_key text not null,
        is_prerelease boolean not null,
        nuspec jsonb not null
      )`);
    await runner.query(`create index ix_nuget_versions_key on nuget_versions (project_id, name_key, version_key)`);
    await runner.query(`
      alter table package_settings
        add column nuget_duplicates_allowed boolean not null default true,
        add column nuget_duplicate_exception_regex text not null default ''
          constraint ck_package_settings_nuget_regex check (char_length(nuget_duplicate_exception_regex) <= 255)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table package_settings drop column nuget_duplicates_allowed,
      drop column nuget_duplicate_exception_regex`);
    await runner.query(`drop table nuget_versions`);
  }
}
