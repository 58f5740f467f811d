import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * To-dos of things of groups, which have a group in place of a project. Those of one person are found by an index that
 * holds nothing else, so that lists of others do not pay for them. Source: reference work-tracking 6.1.
 */
export class AddGroupsToTodos1767225852040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table todos add column group_id bigint`);
    await runner.query(`create index ix_todos_of_groups on todos (user_id, state) where project_id is null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_todos_of_groups`);
    await runner.query(`alter table todos drop column group_id`);
  }
}
