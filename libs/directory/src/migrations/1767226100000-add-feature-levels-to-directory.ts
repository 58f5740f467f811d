import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Projects say who may use their repository and their feature flags. Null as long as nobody said it. The copy says which
 * fields it was made of, so that it is made anew by a process that knows others. Source: reference identity-and-import
 * 10.2; ADR 0041.
 */
export class AddFeatureLevelsToDirectory1767226100000 implements MigrationInterface {
  name = 'AddFeatureLevelsToDirectory1767226100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table directory_projects add repository_access_level text, add feature_flags_access_level text',
    );
    await runner.query(`alter table directory_state add fields text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_state drop fields');
    await runner.query('alter table directory_projects drop repository_access_level, drop feature_flags_access_level');
  }
}
