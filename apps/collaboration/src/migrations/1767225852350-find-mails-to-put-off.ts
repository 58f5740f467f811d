import type { MigrationInterface, QueryRunner } from 'typeorm';

/** E-mails that nobody has looked at, by their recipient: those beyond an allowance are put off. Built beside writes. */
export class FindMailsToPutOff1767225852350 implements MigrationInterface {
  readonly name = 'FindMailsToPutOff1767225852350';
  /** PostgreSQL builds no index beside writes within a transaction. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // What a run that was interrupted left behind is not valid.
    await this.down(runner);
    for (const table of ['mails', 'account_mails']) {
      await runner.query(`
        create index concurrently ix_${table}_unlooked on ${table} (recipient_id, next_attempt_at, id)
          where state = 'queued' and allowed_at is null`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['mails', 'account_mails']) {
      await runner.query(`drop index concurrently if exists ix_${table}_unlooked`);
    }
  }
}
