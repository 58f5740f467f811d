import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who changed a title last, apart from who changed the description (`edited_by_id`). Until now one column told of both, so
 * what it says holds of either.
 */
export class TellWhoChangedTitles1767225852330 implements MigrationInterface {
  readonly name = 'TellWhoChangedTitles1767225852330';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics']) {
      // For a day the migration before made both columns, that of descriptions under another name.
      if (await runner.hasColumn(table, 'description_edited_by_id')) {
        await runner.query(`alter table ${table} rename column description_edited_by_id to edited_by_id`);
        continue;
      }
      await runner.query(`alter table ${table} add column title_edited_by_id bigint`);
      await runner.query(`update ${table} set title_edited_by_id = edited_by_id where edited_by_id is not null`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['issues', 'epics']) await runner.query(`alter table ${table} drop column title_edited_by_id`);
  }
}
