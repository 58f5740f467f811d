import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Columns that order lists of a user's groups and projects are added to the index by whose key they are found, so that
 * thousands are found without reading their rows (ADR 0063). Built concurrently with writes.
 */
export class CoverWhatListsSort1767225600051 implements MigrationInterface {
  readonly name = 'CoverWhatListsSort1767225600051';
  /** PostgreSQL builds no index concurrently within a transaction. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // An index of an interrupted run is invalid.
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
