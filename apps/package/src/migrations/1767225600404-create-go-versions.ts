import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Commits of the versions of Go modules. Source: reference packages-and-admin 4.12. */
export class CreateGoVersions1767225600404 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table go_versions (
        package_id bigint constraint pk_go_versions primary key
          constraint fk_go_versions_package_id references packages (id) on delete cascade,
        project_id bigint not null,
        module_name text not null,
        version text not null constraint ck_go_versions_version check (char_length(version) <= 255),
        target_sha text not null,
        constraint uq_go_versions_version unique (project_id, module_name, version)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table go_versions`);
  }
}
