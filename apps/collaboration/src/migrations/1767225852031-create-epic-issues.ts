import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which issues serve which epic. Inherited days are no columns any more: they follow from the milestones of these issues
 * whenever they are read, so nothing that changes a milestone has to know of epics.
 */
export class CreateEpicIssues1767225852031 implements MigrationInterface {
  readonly name = 'CreateEpicIssues1767225852031';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table epic_issues (
        id bigint generated always as identity,
        epic_id bigint not null,
        issue_id bigint not null,
        relative_position bigint not null,
        constraint pk_epic_issues primary key (id),
        constraint uq_epic_issues_issue_id unique (issue_id),
        constraint fk_epic_issues_epic_id foreign key (epic_id) references epics (id) on delete cascade,
        constraint fk_epic_issues_issue_id foreign key (issue_id) references issues (id) on delete cascade
      )`);
    await runner.query('create index ix_epic_issues_epic_id on epic_issues (epic_id, relative_position, id)');
    await runner.query('alter table epics drop column start_inherited_on, drop column due_inherited_on');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table epics add column start_inherited_on date, add column due_inherited_on date');
    await runner.query('drop table epic_issues');
  }
}
