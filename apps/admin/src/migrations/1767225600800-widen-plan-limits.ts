import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Limits count bytes of files, too. Source: reference packages-and-admin 10.5. */
export class WidenPlanLimits1767225600800 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table plan_limits alter column value type bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table plan_limits alter column value type integer using least(value, 2147483647)');
  }
}
