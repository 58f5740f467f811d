import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Issues that merge requests mention or close. Source: reference repositories 8.17. */
export class CreateMergeRequestIssues1767225853000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table merge_request_issues (
        merge_request_id bigint not null constraint fk_merge_request_issues_merge_request_id
          references merge_requests (id) on delete cascade,
        source text not null constraint ck_merge_request_issues_source check (source in ('text', 'commits')),
        issue_id bigint not null constraint fk_merge_request_issues_issue_id references issues (id) on delete cascade,
        closes boolean not null,
        constraint pk_merge_request_issues primary key (merge_request_id, source, issue_id)
      )`);
    await runner.query(`
      create index ix_merge_request_issues_issue_id on merge_request_issues (issue_id, merge_request_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table merge_request_issues`);
  }
}
