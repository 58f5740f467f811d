import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts the e-mails that a user has caused in an hour. Built while the service runs. Source: reference work-tracking 8.9. */
export class IndexCausedPlaceMails1767225854670 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An index that an interrupted migration left behind is not usable.
    await runner.query('drop index if exists ix_place_mails_caused');
    await runner.query(`
      create index concurrently ix_place_mails_caused on place_mails (actor_id, created_at)
        where template in ('access_requested', 'member_added', 'member_changed')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index if exists ix_place_mails_caused');
  }
}
