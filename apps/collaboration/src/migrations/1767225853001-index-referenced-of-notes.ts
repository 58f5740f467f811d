import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the notes that mention a merge request or an issue elsewhere. Built while the service runs. */
export class IndexReferencedOfNotes1767225853001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists ix_notes_referenced`);
    await runner.query(`
      create index concurrently ix_notes_referenced on notes (referenced_id, referenced_type, noteable_type, noteable_id)
        where referenced_id is not null and body like 'mentioned in %'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ix_notes_referenced`);
  }
}
