import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Repositories of projects, and the intents and outcomes of changes to their refs. Source: ADR 0185. */
export class CreateRepositories1767225852370 implements MigrationInterface {
  readonly name = 'CreateRepositories1767225852370';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table repositories (
        project_id bigint not null,
        storage text not null,
        created_at timestamptz(3) not null default now(),
        constraint pk_repositories primary key (project_id)
      );
      create table removed_repositories (
        project_id bigint not null,
        storage text not null,
        removed_at timestamptz(3) not null default now(),
        constraint pk_removed_repositories primary key (project_id)
      );
      create table pushes (
        id bigint generated always as identity,
        project_id bigint not null,
        user_id bigint,
        source text not null,
        created_at timestamptz(3) not null default now(),
        leased_until timestamptz(3) not null,
        settled_at timestamptz(3),
        constraint pk_pushes primary key (id),
        constraint fk_pushes_project_id foreign key (project_id) references repositories (project_id) on delete cascade
      );
      create index ix_pushes_project_id on pushes (project_id, id);
      create index ix_pushes_user_id on pushes (user_id);
      create index ix_pushes_unsettled on pushes (leased_until) where settled_at is null;
      create table ref_updates (
        push_id bigint not null,
        ref text not null,
        old_id text not null,
        new_id text not null,
        state text not null default 'intended',
        commit_count integer,
        commit_title text,
        is_bulk boolean not null default false,
        constraint pk_ref_updates primary key (push_id, ref),
        constraint fk_ref_updates_push_id foreign key (push_id) references pushes (id) on delete cascade,
        constraint ck_ref_updates_state check (state in ('intended', 'done', 'refused'))
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop table ref_updates; drop table pushes; drop table removed_repositories; drop table repositories',
    );
  }
}
