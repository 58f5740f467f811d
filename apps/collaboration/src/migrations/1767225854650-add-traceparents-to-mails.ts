import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['mails', 'account_mails', 'pipeline_mails', 'place_mails'];

/** Adds the span that queued an e-mail, so that the trace of a request leads to its e-mails. Source: ADR 0082. */
export class AddTraceparentsToMails1767225854650 implements MigrationInterface {
  readonly name = 'AddTraceparentsToMails1767225854650';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} add column traceparent text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} drop column traceparent`);
  }
}
