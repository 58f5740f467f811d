import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * To-do items. Every row is in exactly one of the two indexes of a person's list; the count of a list reads them alone.
 * A text names a person once, whatever events tell of it; a source event makes at most one item of an action for a person; actions that do not repeat are unique while pending.
 * Deleting what is below a project, resolving, and looking for an item go by one index. Source: ADR 0080.
 */
export class CreateTodos1767225820000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table todos (
        id bigint generated always as identity constraint pk_todos primary key,
        user_id bigint not null,
        author_id bigint not null,
        action text not null,
        project_id bigint,
        target_type text not null,
        target_id bigint not null,
        note_id bigint,
        source_event_id uuid not null,
        state text not null default 'pending' constraint ck_todos_state check (state in ('pending', 'done')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      ) with (fillfactor = 90)`);
    await runner.query(`
      create unique index uq_todos_source_event_id on todos (source_event_id, user_id, action)`);
    await runner.query(`
      create unique index uq_todos_named on todos (target_id, target_type, user_id, note_id) nulls not distinct
        where action in ('mentioned', 'directly_addressed')`);
    await runner.query(`
      create unique index uq_todos_pending on todos (user_id, target_type, target_id, action)
        where state = 'pending' and action not in ('mentioned', 'directly_addressed', 'member_access_requested')`);
    await runner.query(`
      create index ix_todos_user_id_pending on todos (user_id, created_at desc, id desc) include (project_id)
        where state = 'pending'`);
    await runner.query(`
      create index ix_todos_user_id_done on todos (user_id, created_at desc, id desc) include (project_id)
        where state = 'done'`);
    await runner.query(`create index ix_todos_target on todos (project_id, target_id, target_type, user_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table todos`);
  }
}
