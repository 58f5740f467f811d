import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Shares that ran out are cleared away like memberships, so they are found the same way. */
export class IndexEndsOfShares1767225600009 implements MigrationInterface {
  readonly name = 'IndexEndsOfShares1767225600009';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create index ix_shares_expires_on on shares (expires_on) where expires_on is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_shares_expires_on`);
  }
}
