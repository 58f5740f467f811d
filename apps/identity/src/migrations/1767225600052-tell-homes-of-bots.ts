import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies of the directory contain the group or project of a token's bot from now on: each bot is written to the log
 * again. Source: ADR 0041.
 */
export class TellHomesOfBots1767225600052 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with told as (select * from users where kind = 'project_bot'), head as (
        update directory_head set version = version + 1 where exists (select 1 from told) returning version
      )
      insert into directory_changes (version, ordinal, kind, entity_id, state)
      select head.version, row_number() over (order by told.id), 'user', told.id, jsonb_build_object(
        'id', told.id, 'username', told.username, 'name', told.name, 'state', told.state, 'kind', told.kind,
        'admin', told.admin, 'external', told.external, 'private_profile', told.private_profile,
        'avatar_url', told.avatar_url, 'public_email', told.public_email,
        'notification_email', case when told.confirmed_at is not null then told.email end,
        'bot_group_id', (select max(t.resource_id) from access_tokens t where t.user_id = told.id and t.resource_type = 'group'),
        'bot_project_id', (select max(t.resource_id) from access_tokens t where t.user_id = told.id and t.resource_type = 'project'),
        'created_at', to_char(told.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from told, head`);
  }

  async down(): Promise<void> {
    // The log entries stay valid.
  }
}
