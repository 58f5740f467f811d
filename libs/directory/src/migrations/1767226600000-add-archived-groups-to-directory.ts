import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy knows groups whose contents take no writes. Null in rows of a former release: the group takes writes. */
export class AddArchivedGroupsToDirectory1767226600000 implements MigrationInterface {
  name = 'AddArchivedGroupsToDirectory1767226600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces add archived boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces drop archived');
  }
}
