import type { MigrationClass } from '@rookery/persistence';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the last answer of admin. Source: ADR 0180. */
export class CreateInstanceAnswers1767226100010 implements MigrationInterface {
  readonly name = 'CreateInstanceAnswers1767226100010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table instance_answers (
        id integer not null,
        version bigint not null,
        answer jsonb not null,
        constraint pk_instance_answers primary key (id),
        constraint ck_instance_answers_id check (id = 1)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table instance_answers');
  }
}

/** Migrations that every service with instance settings lists. */
export const instanceMigrations: readonly MigrationClass[] = [CreateInstanceAnswers1767226100010];
