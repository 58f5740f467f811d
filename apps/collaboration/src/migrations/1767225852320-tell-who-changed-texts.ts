import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed a text last: it is judged by their rights whom it names. Null of texts that nobody changed, and of all before. */
export class TellWhoChangedTexts1767225852320 implements MigrationInterface {
  readonly name = 'TellWhoChangedTexts1767225852320';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics'])
      await runner.query(
        `alter table ${table} add column title_edited_by_id bigint, add column description_edited_by_id bigint`,
      );
    await runner.query('alter table notes add column edited_by_id bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics'])
      await runner.query(`alter table ${table} drop column title_edited_by_id, drop column description_edited_by_id`);
    await runner.query('alter table notes drop column edited_by_id');
  }
}
