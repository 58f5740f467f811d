import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is estimated for an issue and what was spent on it. Units: seconds. */
export class AddTimesToIssues1767225852001 implements MigrationInterface {
  readonly name = 'AddTimesToIssues1767225852001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table issues
        add column time_estimate integer not null default 0,
        add column total_time_spent integer not null default 0,
        add constraint ck_issues_times check (time_estimate >= 0 and total_time_spent >= 0)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues drop column time_estimate, drop column total_time_spent');
  }
}
