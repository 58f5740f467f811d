import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed a text last: it is judged by their rights whom it names. Null of texts that nobody changed, and of all before. */
export class TellWhoChangedTexts1767225852320 implements MigrationInterface {
  readonly name = 'TellWhoChangedTexts1767225852320';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics', 'notes'])
      await runner.query(`alter table ${table} add column edited_by_id bigint`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics', 'notes'])
      await runner.query(`alter table ${table} drop column edited_by_id`);
  }
}
