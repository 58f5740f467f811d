import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The licence of an instance, with the date of its creation. Source: reference packages-and-admin 10.4. */
export class CreateLicenses1767225600500 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table licenses (
        id integer constraint pk_licenses primary key constraint ck_licenses_id check (id = 1),
        created_at timestamptz(3) not null default now(),
        historical_max integer not null default 0
      )`);
    await runner.query('insert into licenses (id) values (1)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table licenses');
  }
}
