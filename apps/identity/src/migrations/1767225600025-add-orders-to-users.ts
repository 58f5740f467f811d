import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for each order in which administrators list users. Built concurrently. */
export class AddOrdersToUsers1767225600025 implements MigrationInterface {
  readonly name = 'AddOrdersToUsers1767225600025';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const column of ['created_at', 'updated_at']) {
      // An index of an interrupted migration is invalid.
      await queryRunner.query(`drop index if exists ix_users_${column}`);
      await queryRunner.query(`create index concurrently ix_users_${column} on users (${column}, id)`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_users_updated_at`);
    await queryRunner.query(`drop index ix_users_created_at`);
  }
}
