import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files of symbols in archives of NuGet, as debuggers ask for them. Source: reference packages-and-admin 4.9. */
export class CreateNugetSymbols1767225600420 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table nuget_symbols (
        file_id bigint not null
          constraint fk_nuget_symbols_file_id references package_files (id) on delete cascade,
        entry_name text not null,
        project_id bigint not null,
        name_key text not null,
        signature text not null,
        checksum text not null,
        size bigint not null,
        constraint pk_nuget_symbols primary key (file_id, entry_name)
      )`);
    await runner.query(
      `create index ix_nuget_symbols_signature on nuget_symbols (project_id, signature, name_key, file_id)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table nuget_symbols`);
  }
}
