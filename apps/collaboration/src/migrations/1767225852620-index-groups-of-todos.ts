import type { MigrationInterface, QueryRunner } from 'typeorm';

/** To-dos about access requests to a group are deleted with it. Source: reference work-tracking 6.3. */
export class IndexGroupsOfTodos1767225852620 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index ix_todos_group_id on todos (group_id) where group_id is not null');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index ix_todos_group_id');
  }
}
