import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where an issue went, and what a system note refers to: its reader may not see it. */
export class AddMovesOfIssues1767225852010 implements MigrationInterface {
  readonly name = 'AddMovesOfIssues1767225852010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table issues add column moved_to_id bigint');
    await runner.query(
      `alter table issues add constraint fk_issues_moved_to_id
         foreign key (moved_to_id) references issues (id) on delete set null`,
    );
    await runner.query('create index ix_issues_moved_to_id on issues (moved_to_id) where moved_to_id is not null');
    await runner.query('alter table notes add column referenced_type text, add column referenced_id bigint');
    await runner.query(
      `alter table notes add constraint ck_notes_referenced
         check ((referenced_type is null) = (referenced_id is null) and (referenced_id is null or system))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table notes drop column referenced_id, drop column referenced_type');
    await runner.query('alter table issues drop column moved_to_id');
  }
}
