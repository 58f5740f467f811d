import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The last few addresses from which a token was used, newest first. `ips_changed_at` keeps a token that is passed
 * around from being written with each request.
 */
export class AddLastUsedIpsToAccessTokens1767225600029 implements MigrationInterface {
  readonly name = 'AddLastUsedIpsToAccessTokens1767225600029';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table access_tokens
        add column last_used_ips text[] not null default '{}',
        add column ips_changed_at timestamptz(3),
        add constraint ck_access_tokens_last_used_ips check (cardinality(last_used_ips) <= 5)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table access_tokens drop column last_used_ips, drop column ips_changed_at`);
  }
}
