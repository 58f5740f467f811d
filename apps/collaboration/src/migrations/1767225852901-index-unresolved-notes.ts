import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the open threads of a merge request. Built while the service runs. Source: reference repositories 8.12. */
export class IndexUnresolvedNotes1767225852901 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists ix_notes_unresolved`);
    await runner.query(`
      create index concurrently ix_notes_unresolved on notes (noteable_id)
        where noteable_type = 'MergeRequest' and thread_id is not null and resolved_at is null and not system`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_notes_unresolved`);
  }
}
