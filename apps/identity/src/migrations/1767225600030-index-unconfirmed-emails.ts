import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Index of unconfirmed addresses, of which there are few. Built concurrently. */
export class IndexUnconfirmedEmails1767225600030 implements MigrationInterface {
  readonly name = 'IndexUnconfirmedEmails1767225600030';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // An index of an interrupted migration is invalid.
    await queryRunner.query(`drop index if exists ix_emails_unconfirmed`);
    await queryRunner.query(
      `create index concurrently ix_emails_unconfirmed on emails (id) where confirmed_at is null`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_emails_unconfirmed`);
  }
}
