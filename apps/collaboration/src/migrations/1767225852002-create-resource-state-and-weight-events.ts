import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Weights of issues, which weights each had, and when it was closed and opened again. The index of issues holds only those
 * that have a weight: others cost nothing more to write.
 */
export class CreateResourceStateAndWeightEvents1767225852002 implements MigrationInterface {
  readonly name = 'CreateResourceStateAndWeightEvents1767225852002';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table resource_state_events, resource_weight_events');
    await runner.query('alter table issues drop column weight');
  }
}

const STATEMENTS = [
  'alter table issues add column weight integer, add constraint ck_issues_weight check (weight >= 0)',
  `create index ix_issues_project_id_weight on issues (project_id, weight, created_at desc, id desc)
    where weight is not null`,
  ...eventsOf('state', 'text not null'),
  `alter table resource_state_events
    add constraint ck_resource_state_events_state check (state in ('closed', 'merged', 'reopened'))`,
  ...eventsOf('weight', 'integer'),
];

function eventsOf(column: string, type: string): string[] {
  const table = `resource_${column}_events`;
  return [
    `create table ${table} (
      id bigint generated always as identity,
      noteable_type text not null,
      noteable_id bigint not null,
      project_id bigint,
      user_id bigint not null,
      ${column} ${type},
      created_at timestamptz(3) not null,
      constraint pk_${table} primary key (id)
    )`,
    `create index ix_${table}_noteable on ${table} (noteable_id, noteable_type, created_at, id)`,
    ...['project_id', 'user_id'].map((of) => `create index ix_${table}_${of} on ${table} (${of})`),
  ];
}
