import type { MigrationInterface, QueryRunner } from 'typeorm';

/** That one thing named another is said once. */
export class CrossReferences1767225852011 implements MigrationInterface {
  readonly name = 'CrossReferences1767225852011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create unique index uq_notes_cross_reference on notes (noteable_id, noteable_type, referenced_id, referenced_type)
         where referenced_id is not null and body like 'mentioned in %'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index uq_notes_cross_reference');
  }
}
