import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Facts of pushes, as feeds show them. Source: reference repositories 1.6. */
export class AddPushDataToActivityEvents1767225852380 implements MigrationInterface {
  readonly name = 'AddPushDataToActivityEvents1767225852380';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table activity_events add column push_data jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table activity_events drop column push_data');
  }
}
