import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the choice of lists of comments to imports. Source: reference identity-and-import 6.6. */
export class AddSingleEndpointNotesToImports1767225600104 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports add column single_endpoint_notes boolean not null default false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table project_imports drop column single_endpoint_notes`);
  }
}
