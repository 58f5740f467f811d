import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the merge requests of pushed merge commits. Built while the service runs. */
export class IndexMergeCommitsOfMergeRequests1767225853300 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists ix_merge_requests_merge_commit_sha`);
    await runner.query(`
      create index concurrently ix_merge_requests_merge_commit_sha on merge_requests (project_id, merge_commit_sha)
        where merge_commit_sha is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_merge_requests_merge_commit_sha`);
  }
}
