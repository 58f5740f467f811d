import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings that administrators have changed. Source: reference packages-and-admin 10.3; ADR 0180. */
export class CreateApplicationSettings1767225600300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table application_settings (
        name text constraint pk_application_settings primary key,
        value jsonb not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table application_settings');
  }
}
