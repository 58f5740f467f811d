import type { MigrationInterface, QueryRunner } from 'typeorm';

/** E-mail addresses that mail servers refuse. Source: reference reliability 2.7. */
export class CreateSuspectAddresses1767225854580 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table suspect_addresses (
        digest text constraint pk_suspect_addresses primary key,
        refusals integer not null constraint ck_suspect_addresses_refusals check (refusals > 0),
        refused_at timestamptz(3) not null default now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table suspect_addresses');
  }
}
