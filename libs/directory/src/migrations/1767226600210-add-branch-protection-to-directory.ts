import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The copy knows how groups protect the default branches of new projects. Null: not set. Source: ADR 0041. */
export class AddBranchProtectionToDirectory1767226600210 implements MigrationInterface {
  name = 'AddBranchProtectionToDirectory1767226600210';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces add default_branch_protection jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table directory_namespaces drop default_branch_protection');
  }
}
