import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which batch an e-mail was taken in, so that a batch whose answer was lost can be given back. */
export class MailClaims1767225852090 implements MigrationInterface {
  readonly name = 'MailClaims1767225852090';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mails add column claim uuid');
    await runner.query('alter table account_mails add column claim uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table account_mails drop column claim');
    await runner.query('alter table mails drop column claim');
  }
}
