import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The source of a fork. A trigger maintains its `forks_count`, so it is exact however a fork is removed. A fork
 * survives its source. Source: ADR 0110.
 */
export class AddForksToProjects1767225600015 implements MigrationInterface {
  readonly name = 'AddForksToProjects1767225600015';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table projects add column forked_from_project_id bigint,
        add constraint fk_projects_forked_from_project_id foreign key (forked_from_project_id)
          references projects (id) on delete set null`);
    await queryRunner.query(
      `create index ix_projects_forked_from_project_id on projects (forked_from_project_id, id)
         where forked_from_project_id is not null`,
    );
    await queryRunner.query(`
      create function count_project_forks() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          update projects set forks_count = forks_count + 1 where id = new.forked_from_project_id;
        else
          update projects set forks_count = forks_count - 1 where id = old.forked_from_project_id;
        end if;
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_projects_fork_made after insert on projects
        for each row when (new.forked_from_project_id is not null) execute function count_project_forks()`);
    await queryRunner.query(`
      create trigger tr_projects_fork_gone after delete on projects
        for each row when (old.forked_from_project_id is not null) execute function count_project_forks()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop trigger tr_projects_fork_made on projects`);
    await queryRunner.query(`drop trigger tr_projects_fork_gone on projects`);
    await queryRunner.query(`drop function count_project_forks()`);
    await queryRunner.query(`alter table projects drop column forked_from_project_id`);
  }
}
