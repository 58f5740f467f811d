import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A copy of the pipelines that the package service announces, for the heads of merge requests; wishes of automatic merges. */
export class CreateCiPipelines1767225852852 implements MigrationInterface {
  readonly name = 'CreateCiPipelines1767225852852';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table ci_pipelines (
        id bigint constraint pk_ci_pipelines primary key,
        project_id bigint not null,
        iid bigint not null default 0,
        sha text not null default '',
        ref text not null default '',
        is_tag boolean not null default false,
        source text not null default '',
        status text not null default '',
        user_id bigint,
        coverage text,
        duration integer,
        committed_at timestamptz(3),
        started_at timestamptz(3),
        finished_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        is_deleted boolean not null default false
      );
      create index ix_ci_pipelines_project_id_sha on ci_pipelines (project_id, sha, id);
      create index ix_ci_pipelines_user_id on ci_pipelines (user_id) where user_id is not null;
      alter table merge_requests add auto_merge_wishes jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table merge_requests drop auto_merge_wishes; drop table ci_pipelines');
  }
}
