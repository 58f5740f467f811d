import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Notes that answer each other, and what was settled by them. `thread_id` is the id of the note that began a thread; it
 * stays when that note goes, and the oldest one left stands for the thread then (`is_reply` says which ones do not). Notes
 * that stand alone have none of it, so the index holds threads only, and nothing is filled in for what was there before.
 * Built beside the running service, which may have many notes. Source: reference work-tracking 3.1, 3.2.
 */
export class AddThreadsToNotes1767225830200 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table notes
        add column if not exists thread_id bigint,
        add column if not exists is_reply boolean not null default false,
        add column if not exists resolved_at timestamptz(3),
        add column if not exists resolved_by_id bigint`);
    await runner.query(`alter table notes drop constraint if exists ck_notes_thread`);
    await runner.query(`
      alter table notes add constraint ck_notes_thread
        check (thread_id is not null or (not is_reply and resolved_at is null)) not valid`);
    await runner.query(`alter table notes validate constraint ck_notes_thread`);
    for (const { name, on } of INDEXES) {
      // One that an interrupted migration left behind is not usable.
      await runner.query(`drop index if exists ${name}`);
      await runner.query(`create index concurrently ${name} on ${on}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table notes drop column thread_id, drop column is_reply, drop column resolved_at, drop column resolved_by_id`);
  }
}

const INDEXES = [
  {
    name: 'ix_notes_thread',
    on: `notes (noteable_id, noteable_type, thread_id, created_at, id) include (is_reply, internal)
      where thread_id is not null`,
  },
  { name: 'ix_notes_resolved_by_id', on: 'notes (resolved_by_id) where resolved_by_id is not null' },
] as const;
