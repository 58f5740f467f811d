import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What lists of somebody's groups and projects sort by and tell apart stands in an index beside the key by which they
 * are found, so that those of thousands are found without a look at their rows (ADR 0063). Built beside writes.
 */
export class CoverWhatListsSort1767225600051 implements MigrationInterface {
  readonly name = 'CoverWhatListsSort1767225600051';
  /** PostgreSQL builds no index beside writes within a transaction. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // What a run that was interrupted left behind is not valid.
    await this.down(queryRunner);
    await queryRunner.query(
      `create index concurrently ix_projects_namespace_id_last_activity_at on projects (namespace_id, last_activity_at, id)`,
    );
    await queryRunner.query(
      `create index concurrently ix_namespaces_group_id on namespaces (id) include (name, path, parent_id) where kind = 'group'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index concurrently if exists ix_projects_namespace_id_last_activity_at`);
    await queryRunner.query(`drop index concurrently if exists ix_namespaces_group_id`);
  }
}
