import type { MigrationInterface, QueryRunner } from 'typeorm';

/** E-mails about things of groups, which have no project. Source: reference work-tracking 8.4. */
export class LetMailsBeOfGroups1767225852130 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table mails alter column project_id drop not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from mails where project_id is null`);
    await runner.query(`alter table mails alter column project_id set not null`);
  }
}
