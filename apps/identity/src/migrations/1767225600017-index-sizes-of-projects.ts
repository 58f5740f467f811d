import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every project has a row of statistics from the beginning, so that lists by size can use an index without missing
 * projects. Source: reference identity-and-import 10.2; ADR 0110.
 */
export class IndexSizesOfProjects1767225600017 implements MigrationInterface {
  readonly name = 'IndexSizesOfProjects1767225600017';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create function begin_project_statistics() returns trigger language plpgsql as $$
      begin
        insert into project_statistics (project_id) select id from made on conflict (project_id) do nothing;
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_projects_statistics after insert on projects referencing new table as made
        for each statement execute function begin_project_statistics()`);
    await queryRunner.query(
      `insert into project_statistics (project_id) select id from projects on conflict (project_id) do nothing`,
    );
    for (const column of ['repository_size', 'storage_size', 'packages_size', 'wiki_size']) {
      await queryRunner.query(
        `create index ix_project_statistics_${column} on project_statistics (${column}, project_id)`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const column of ['repository_size', 'storage_size', 'packages_size', 'wiki_size']) {
      await queryRunner.query(`drop index ix_project_statistics_${column}`);
    }
    await queryRunner.query(`drop trigger tr_projects_statistics on projects`);
    await queryRunner.query(`drop function begin_project_statistics()`);
  }
}
