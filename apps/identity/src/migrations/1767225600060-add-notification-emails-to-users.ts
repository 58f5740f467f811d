import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Users may choose another confirmed address for notifications. Source: reference work-tracking 8.1. */
export class AddNotificationEmailsToUsers1767225600060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table users add column notification_email text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table users drop column notification_email`);
  }
}
