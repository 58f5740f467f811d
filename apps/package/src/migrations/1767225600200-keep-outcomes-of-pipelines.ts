import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The last success or failure of a pipeline, which a retry does not change. Source: reference work-tracking 8.4. */
export class KeepOutcomesOfPipelines1767225600200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table pipelines add column last_outcome text
        constraint ck_pipelines_last_outcome check (last_outcome in ('success', 'failed'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pipelines drop column last_outcome');
  }
}
