import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Expired shares are deleted like expired memberships, so they have the same index. */
export class IndexEndsOfShares1767225600009 implements MigrationInterface {
  readonly name = 'IndexEndsOfShares1767225600009';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create index ix_shares_expires_on on shares (expires_on) where expires_on is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_shares_expires_on`);
  }
}
