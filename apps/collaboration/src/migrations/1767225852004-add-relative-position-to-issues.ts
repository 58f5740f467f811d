import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where people put issues among those of their project. It has no index: lists in that order sort, as those by title. */
export class AddRelativePositionToIssues1767225852004 implements MigrationInterface {
  readonly name = 'AddRelativePositionToIssues1767225852004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues add column relative_position bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues drop column relative_position');
  }
}
