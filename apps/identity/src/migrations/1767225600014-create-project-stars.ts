import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stars of users on projects, with their time. A trigger maintains `projects.star_count`, so it is exact whether a star
 * is removed by its user, with its user, or with its project. Source: ADR 0110.
 */
export class CreateProjectStars1767225600014 implements MigrationInterface {
  readonly name = 'CreateProjectStars1767225600014';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table project_stars (
        user_id bigint not null,
        project_id bigint not null,
        created_at timestamptz(3) not null default now(),
        constraint pk_project_stars primary key (user_id, project_id),
        constraint fk_project_stars_user_id foreign key (user_id) references users (id) on delete cascade,
        constraint fk_project_stars_project_id foreign key (project_id) references projects (id) on delete cascade
      )`);
    await queryRunner.query(
      `create index ix_project_stars_project_id on project_stars (project_id, created_at, user_id)`,
    );
    await queryRunner.query(`
      create function count_project_stars() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          update projects set star_count = star_count + 1 where id = new.project_id;
        else
          update projects set star_count = star_count - 1 where id = old.project_id;
        end if;
        return null;
      end $$`);
    await queryRunner.query(`
      create trigger tr_project_stars_count after insert or delete on project_stars
        for each row execute function count_project_stars()`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table project_stars`);
    await queryRunner.query(`drop function count_project_stars()`);
  }
}
