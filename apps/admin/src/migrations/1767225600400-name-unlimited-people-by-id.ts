import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Converts the users whose notes are not counted from usernames to ids, because another user may take over a username.
 * Unknown names are dropped. Source: reference packages-and-admin 10.3.
 */
export class NameUnlimitedPeopleById1767225600400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      with changed as (
        update application_settings s set value = (
          select coalesce(jsonb_agg(u.id order by u.id), '[]') from directory_users u
          where lower(u.username) in (select lower(listed.username) from jsonb_array_elements_text(s.value) as listed (username)))
        where s.name = 'notes_create_limit_allowlist' returning 1
      )
      update instance_versions set version = version + 1 where exists (select 1 from changed)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from application_settings where name = 'notes_create_limit_allowlist'`);
  }
}
