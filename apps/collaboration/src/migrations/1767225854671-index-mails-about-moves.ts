import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts the moves of projects by a user that sent e-mails in an hour. Built while the service runs. Source: reference work-tracking 8.9. */
export class IndexMailsAboutMoves1767225854671 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query('drop index if exists ix_place_mails_moved');
    await runner.query(`
      create index concurrently ix_place_mails_moved on place_mails (actor_id, created_at, source_event_id)
        where template = 'moved_project'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index if exists ix_place_mails_moved');
  }
}
