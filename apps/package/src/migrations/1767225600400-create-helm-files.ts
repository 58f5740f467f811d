import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Charts of Helm packages and their provenance files. Source: reference packages-and-admin 4.8. */
export class CreateHelmFiles1767225600400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table helm_files (
        file_id bigint constraint pk_helm_files primary key
          constraint fk_helm_files_file_id references package_files (id) on delete cascade,
        project_id bigint not null,
        channel text not null constraint ck_helm_files_channel check (char_length(channel) <= 255),
        chart_name text not null,
        file_name text not null,
        chart jsonb
      )`);
    await runner.query(
      `create index ix_helm_files_chart_name on helm_files (project_id, channel, chart_name, file_id)`,
    );
    await runner.query(`create index ix_helm_files_file_name on helm_files (project_id, channel, file_name, file_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table helm_files`);
  }
}
