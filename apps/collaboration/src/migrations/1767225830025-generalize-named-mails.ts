import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whoever a text names is told of it once, whatever the kind of the thing. The rows are those of `uq_mails_named`, which
 * named the templates of issues; only what tells of a new assignment may name somebody again. Built beside the running
 * service.
 */
export class GeneralizeNamedMails1767225830025 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists uq_mails_named_once`);
    await runner.query(`
      create unique index concurrently uq_mails_named_once on mails (noteable_id, noteable_type, recipient_id)
        where reason = 'mentioned' and note_id is null and template not like '%\\_reassigned'`);
    await runner.query(`drop index concurrently if exists uq_mails_named`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create unique index uq_mails_named on mails (noteable_id, noteable_type, recipient_id)
        where reason = 'mentioned' and template in ('issue_created', 'issue_mentioned')`);
    await runner.query(`drop index uq_mails_named_once`);
  }
}
