import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tokens of groups and projects: the group or project of a token and the level with which it was created.
 * `notices_sent` counts the days before expiry (60, 30, 7, 0) for which notices were sent.
 */
export class AddResourcesToAccessTokens1767225600019 implements MigrationInterface {
  readonly name = 'AddResourcesToAccessTokens1767225600019';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table access_tokens
        add column resource_type text,
        add column resource_id bigint,
        add column access_level integer,
        add column notices_sent smallint not null default 0,
        add constraint ck_access_tokens_resource check (
          (resource_type is null and resource_id is null and access_level is null)
          or (resource_type in ('group', 'project') and resource_id is not null and access_level is not null)),
        add constraint ck_access_tokens_notices_sent check (notices_sent between 0 and 4)`);
    await queryRunner.query(
      `create index ix_access_tokens_resource on access_tokens (resource_type, resource_id, id) where resource_id is not null`,
    );
    await queryRunner.query(`
      create index ix_access_tokens_next_notice on access_tokens
        ((expires_on - case notices_sent when 0 then 60 when 1 then 30 when 2 then 7 else 0 end), id)
        where expires_on is not null and not revoked and not impersonation and notices_sent < 4`);
    await queryRunner.query(`create index ix_users_project_bots on users (id) where kind = 'project_bot'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index ix_users_project_bots`);
    await queryRunner.query(`drop index ix_access_tokens_next_notice, ix_access_tokens_resource`);
    await queryRunner.query(`
      alter table access_tokens drop column resource_type, drop column resource_id, drop column access_level,
        drop column notices_sent`);
  }
}
