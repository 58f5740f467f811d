import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy knows from which project a fork was made. Null: the project is not a fork. Source: ADR 0041. */
export class AddForksToDirectory1767226600100 implements MigrationInterface {
  name = 'AddForksToDirectory1767226600100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects add fork jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects drop fork');
  }
}
