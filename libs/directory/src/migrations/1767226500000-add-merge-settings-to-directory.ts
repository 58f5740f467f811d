import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy has the settings of projects for merges. Null: the project has set none. Source: ADR 0041. */
export class AddMergeSettingsToDirectory1767226500000 implements MigrationInterface {
  name = 'AddMergeSettingsToDirectory1767226500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects add merge_settings jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects drop merge_settings');
  }
}
