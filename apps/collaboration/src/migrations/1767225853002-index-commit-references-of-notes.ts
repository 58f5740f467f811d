import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps a noteable from having two notes about the same commit. Built while the service runs. */
export class IndexCommitReferencesOfNotes1767225853002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query(`drop index if exists uq_notes_commit_reference`);
    await runner.query(`
      create unique index concurrently uq_notes_commit_reference on notes (noteable_id, noteable_type, body)
        where system and referenced_id is null and body like 'mentioned in commit %'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index uq_notes_commit_reference`);
  }
}
