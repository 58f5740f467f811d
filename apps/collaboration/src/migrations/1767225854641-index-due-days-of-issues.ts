import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds open issues that are due on a day, across projects, for e-mails. Source: reference work-tracking 8.4. */
export class IndexDueDaysOfIssues1767225854641 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One that an interrupted migration left behind is not usable.
    await runner.query('drop index if exists ix_issues_due_on');
    await runner.query(`
      create index concurrently ix_issues_due_on on issues (due_on, id)
        where state = 'opened' and due_on is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index if exists ix_issues_due_on');
  }
}
