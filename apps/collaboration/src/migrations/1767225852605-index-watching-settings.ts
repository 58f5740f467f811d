import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users who watch a place are found by the place. The address for notifications is identity's; its column here was never
 * written. Source: reference work-tracking 8.1, 8.2.
 */
export class IndexWatchingSettings1767225852605 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table notification_settings drop column notification_email;
      create index ix_notification_settings_watching on notification_settings (source_type, source_id, user_id)
        where level in ('watch', 'custom')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index ix_notification_settings_watching;
      alter table notification_settings add column notification_email text`);
  }
}
