import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Repositories that still need a first commit with a README. Source: reference repositories 1.5. */
export class AddFirstCommitsToRepositories1767225854402 implements MigrationInterface {
  readonly name = 'AddFirstCommitsToRepositories1767225854402';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories add needs_readme boolean not null default false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories drop needs_readme');
  }
}
