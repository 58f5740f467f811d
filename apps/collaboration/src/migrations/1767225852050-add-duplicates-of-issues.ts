import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which issue says the same as one that was closed for it. */
export class AddDuplicatesOfIssues1767225852050 implements MigrationInterface {
  readonly name = 'AddDuplicatesOfIssues1767225852050';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues add column duplicated_to_id bigint');
    await runner.query(
      `alter table issues add constraint fk_issues_duplicated_to_id
         foreign key (duplicated_to_id) references issues (id) on delete set null`,
    );
    await runner.query(
      'create index ix_issues_duplicated_to_id on issues (duplicated_to_id) where duplicated_to_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues drop column duplicated_to_id');
  }
}
