import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was last told of the open issues of a project (ADR 0110). Projects that have issues already are counted by a job,
 * a chunk at a time; until then their row says that nobody has.
 */
export class CreateIssueCounts1767225840010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table issue_counts (
        project_id bigint constraint pk_issue_counts primary key,
        open_count integer not null default 0,
        open_public_count integer not null default 0,
        counted_at timestamptz(3),
        constraint ck_issue_counts_open check (open_public_count between 0 and open_count)
      )`);
    await runner.query(`create index ix_issue_counts_uncounted on issue_counts (project_id) where counted_at is null`);
    await runner.query(`insert into issue_counts (project_id) select distinct project_id from issues`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table issue_counts`);
  }
}
