import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts the e-mails for which a user is responsible in an hour. Replaces the indexes by actor, and is built while the
 * service runs. Source: reference work-tracking 8.9.
 */
export class IndexPlaceMailsByResponsibleUser1767225854681 implements MigrationInterface {
  readonly name = 'IndexPlaceMailsByResponsibleUser1767225854681';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query('drop index if exists ix_place_mails_limited');
    await runner.query('drop index if exists ix_place_mails_moves');
    await runner.query(`
      create index concurrently ix_place_mails_limited on place_mails (responsible_id, created_at)
        where template in ('access_requested', 'member_added', 'member_changed')`);
    await runner.query(`
      create index concurrently ix_place_mails_moves on place_mails (responsible_id, created_at, source_event_id)
        where template = 'moved_project'`);
    await runner.query('drop index concurrently if exists ix_place_mails_caused');
    await runner.query('drop index concurrently if exists ix_place_mails_moved');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index concurrently if not exists ix_place_mails_caused on place_mails (actor_id, created_at)
        where template in ('access_requested', 'member_added', 'member_changed')`);
    await runner.query(`
      create index concurrently if not exists ix_place_mails_moved on place_mails (actor_id, created_at, source_event_id)
        where template = 'moved_project'`);
    await runner.query('drop index if exists ix_place_mails_limited');
    await runner.query('drop index if exists ix_place_mails_moves');
  }
}
