import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Versions and files of PyPI packages. Source: reference packages-and-admin 4.5. */
export class CreatePypiFiles1767225600020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pypi_versions (
        package_id bigint constraint pk_pypi_versions primary key
          constraint fk_pypi_versions_package_id references packages (id) on delete cascade,
        project_id bigint not null,
        name_key text not null,
        version_key text not null
      )`);
    await runner.query(`create index ix_pypi_versions_key on pypi_versions (project_id, name_key, version_key)`);
    await runner.query(`
      create table pypi_files (
        file_id bigint constraint pk_pypi_files primary key
          constraint fk_pypi_files_file_id references package_files (id) on delete cascade,
        requires_python text constraint ck_pypi_files_requires_python check (char_length(requires_python) <= 255),
        metadata_sha256 text,
        metadata_size integer,
        yanked text,
        token_id bigint,
        acknowledged_at timestamptz(3)
      )`);
    await runner.query(`create index ix_pypi_files_metadata_sha256 on pypi_files (metadata_sha256)
      where metadata_sha256 is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table pypi_files`);
    await runner.query(`drop table pypi_versions`);
  }
}
