import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sizes of repositories, and of pushes that are not settled, for quotas. Source: reference repositories 1.11. */
export class MeasureStoredBytes1767225854570 implements MigrationInterface {
  readonly name = 'MeasureStoredBytes1767225854570';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories add size bigint');
    await runner.query('alter table pushes add stored_bytes bigint not null default 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pushes drop stored_bytes');
    await runner.query('alter table repositories drop size');
  }
}
