import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Merge checks store whether the source lacks commits of the target. Stored results are repeated, since they lack that. */
export class AddMergeRulesToMergeRequests1767225852850 implements MigrationInterface {
  readonly name = 'AddMergeRulesToMergeRequests1767225852850';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table merge_requests add is_behind boolean not null default false;
      update merge_requests set merge_status = 'unchecked' where state = 'opened' and merge_status = 'can_be_merged'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests drop is_behind');
  }
}
