import type { MigrationInterface, QueryRunner } from 'typeorm';

/** With what and from where issues were made; of those that are there it is not known. */
export class AddOriginsToIssues1767225852100 implements MigrationInterface {
  readonly name = 'AddOriginsToIssues1767225852100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues add column user_agent text, add column ip_address text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues drop column user_agent, drop column ip_address');
  }
}
