import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which labels things got and lost. */
export class CreateResourceLabelEvents1767225830101 implements MigrationInterface {
  readonly name = 'CreateResourceLabelEvents1767225830101';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table resource_label_events (
        id bigint generated always as identity,
        noteable_type text not null,
        noteable_id bigint not null,
        project_id bigint,
        user_id bigint not null,
        label_id bigint not null,
        action text not null,
        created_at timestamptz(3) not null,
        constraint pk_resource_label_events primary key (id),
        constraint ck_resource_label_events_action check (action in ('add', 'remove'))
      )`);
    await runner.query(
      'create index ix_resource_label_events_noteable on resource_label_events (noteable_id, noteable_type, created_at, id)',
    );
    for (const column of ['label_id', 'project_id', 'user_id']) {
      await runner.query(`create index ix_resource_label_events_${column} on resource_label_events (${column})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table resource_label_events');
  }
}
