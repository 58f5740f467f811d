import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Bots of tokens say where they belong. Null of those that were not told anew yet. Source: ADR 0041. */
export class TellHomesOfBots1767226400000 implements MigrationInterface {
  name = 'TellHomesOfBots1767226400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_users add bot_group_id bigint, add bot_project_id bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_users drop bot_group_id, drop bot_project_id');
  }
}
