import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Addresses that wait for their confirmation, of which few do. Built beside the running service. */
export class IndexUnconfirmedEmails1767225600030 implements MigrationInterface {
  readonly name = 'IndexUnconfirmedEmails1767225600030';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // One that an interrupted migration left behind is not usable.
    await queryRunner.query(`drop index if exists ix_emails_unconfirmed`);
    await queryRunner.query(
      `create index concurrently ix_emails_unconfirmed on emails (id) where confirmed_at is null`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_emails_unconfirmed`);
  }
}
