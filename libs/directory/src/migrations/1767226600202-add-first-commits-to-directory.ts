import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy knows which projects begin with a README. Null: without. Source: ADR 0041, reference repositories 1.5. */
export class AddFirstCommitsToDirectory1767226600202 implements MigrationInterface {
  name = 'AddFirstCommitsToDirectory1767226600202';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects add initialize_with_readme boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_projects drop initialize_with_readme');
  }
}
