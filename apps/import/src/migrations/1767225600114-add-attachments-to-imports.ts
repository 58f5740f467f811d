import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the choice of attachments to imports. Source: reference identity-and-import 6.6. */
export class AddAttachmentsToImports1767225600114 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports add column with_attachments boolean not null default false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports drop column with_attachments`);
  }
}
