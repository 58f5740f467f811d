import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Groups say whether they may be named. Null as long as nobody said it. Source: reference work-tracking 6.3. */
export class AddMentionsDisabledToDirectory1767225840000 implements MigrationInterface {
  name = 'AddMentionsDisabledToDirectory1767225840000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces add mentions_disabled boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces drop mentions_disabled');
  }
}
