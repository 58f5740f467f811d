import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The last few IP addresses that used a token, newest first. `ips_changed_at` prevents a write per request for a token
 * that is used from many addresses.
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
