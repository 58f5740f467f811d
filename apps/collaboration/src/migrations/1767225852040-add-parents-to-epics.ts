import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Epics below epics, in an order that people give them. What loses its parent stays. */
export class AddParentsToEpics1767225852040 implements MigrationInterface {
  readonly name = 'AddParentsToEpics1767225852040';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table epics add column parent_id bigint, add column relative_position bigint not null default 0,
        add constraint fk_epics_parent_id foreign key (parent_id) references epics (id) on delete set null`);
    await runner.query(`
      create index ix_epics_parent_id on epics (parent_id, relative_position, id) where parent_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index ix_epics_parent_id');
    await runner.query('alter table epics drop column parent_id, drop column relative_position');
  }
}
