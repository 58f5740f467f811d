import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the running and waiting imports of a user. Source: reference identity-and-import 6.1. */
export class IndexImportsByUser1767225600102 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index ix_project_imports_unfinished_of_user on project_imports (user_id, state, id)
      where state in ('scheduled', 'started')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_project_imports_unfinished_of_user`);
  }
}
