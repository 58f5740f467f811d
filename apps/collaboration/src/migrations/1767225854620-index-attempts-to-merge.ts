import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds merge requests that were closed after an attempt to merge them. Built while the service runs. */
export class IndexAttemptsToMerge1767225854620 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists ix_merge_requests_closed_in_merge`);
    await runner.query(`
      create index concurrently ix_merge_requests_closed_in_merge on merge_requests (project_id, target_branch)
        where state = 'closed' and merge_intent is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_merge_requests_closed_in_merge`);
  }
}
