import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Time at which the push options about merge requests were applied to a branch. Source: reference repositories 1.5. */
export class AddOptionsAppliedToRefUpdates1767225854210 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table ref_updates add column options_applied_at timestamptz(3)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table ref_updates drop column options_applied_at');
  }
}
