import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Versions of Composer packages. Source: reference packages-and-admin 4.11. */
export class CreateComposerVersions1767225600403 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table composer_versions (
        package_id bigint constraint pk_composer_versions primary key
          constraint fk_composer_versions_package_id references packages (id) on delete cascade,
        project_id bigint not null,
        target_sha text not null,
        description text not null constraint ck_composer_versions_description
          check (char_length(description) <= 65536)
      )`);
    await runner.query(`create index ix_composer_versions_target_sha on composer_versions (project_id, target_sha)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table composer_versions`);
  }
}
