import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Limits that administrators have set for a plan. Source: reference packages-and-admin 10.5. */
export class CreatePlanLimits1767225600600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table plan_limits (
        plan text not null,
        name text not null,
        value integer not null,
        constraint pk_plan_limits primary key (plan, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table plan_limits');
  }
}
