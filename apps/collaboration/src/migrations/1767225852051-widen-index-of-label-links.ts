import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which things of a project have a label at all is told by one range of an index, however many labels others have. */
export class WidenIndexOfLabelLinks1767225852051 implements MigrationInterface {
  readonly name = 'WidenIndexOfLabelLinks1767225852051';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One that was begun before and not finished is of no use.
    await runner.query('drop index concurrently if exists ix_label_links_project_id_label_id');
    await runner.query(
      `create index concurrently ix_label_links_project_id_label_id
         on label_links (project_id, label_id, noteable_type, noteable_id)`,
    );
    await runner.query('drop index concurrently if exists ix_label_links_project_id');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('create index ix_label_links_project_id on label_links (project_id, label_id)');
    await runner.query('drop index ix_label_links_project_id_label_id');
  }
}
