import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a project begins with a README. Existing projects do not. Source: reference repositories 1.5. */
export class AddFirstCommitsToProjects1767225600402 implements MigrationInterface {
  readonly name = 'AddFirstCommitsToProjects1767225600402';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects add initialize_with_readme boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop initialize_with_readme');
  }
}
