import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Entries of activity feeds. `noteable` is what access depends on: the issue itself, or the issue of a note. One index
 * for each feed, in its order; deleting goes by the noteable. Not partitioned: feeds are read over all time, and old
 * rows are few enough to be deleted in chunks. Source: reference work-tracking 7.8.
 */
export class CreateActivityEvents1767225820001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table activity_events (
        id bigint generated always as identity constraint pk_activity_events primary key,
        project_id bigint not null,
        author_id bigint not null,
        action text not null,
        target_type text,
        target_id bigint,
        noteable_type text,
        noteable_id bigint,
        source_event_id uuid not null,
        imported_from text not null default 'none',
        created_at timestamptz(3) not null
      )`);
    await runner.query(`
      create unique index uq_activity_events_source_event_id on activity_events (source_event_id, action)`);
    await runner.query(`
      create index ix_activity_events_author_id on activity_events (author_id, created_at desc, id desc)
        include (project_id)`);
    await runner.query(`
      create index ix_activity_events_project_id on activity_events (project_id, created_at desc, id desc)`);
    await runner.query(`
      create index ix_activity_events_noteable on activity_events (noteable_id, noteable_type, target_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table activity_events`);
  }
}
