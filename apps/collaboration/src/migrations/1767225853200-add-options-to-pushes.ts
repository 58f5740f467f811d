import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Push options about pipelines. Source: reference identity-and-import 7.6. */
export class AddOptionsToPushes1767225853200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table pushes add column options text[] not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pushes drop column options');
  }
}
