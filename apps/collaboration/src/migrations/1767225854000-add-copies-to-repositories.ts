import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Repositories of forks say from which project they are still to be copied. */
export class AddCopiesToRepositories1767225854000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories add copies_project_id bigint, add copies_branch text');
    await runner.query(`
      create index ix_repositories_copies_project_id on repositories (copies_project_id)
        where copies_project_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table repositories drop copies_project_id, drop copies_branch');
  }
}
