import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Pipelines of pushes and merge requests. Source: reference identity-and-import 7.3, 7.6. */
export class StartPipelinesByPush1767225600180 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pipelines add column push_id bigint');
    await runner.query(
      'create unique index uq_pipelines_push_id on pipelines (push_id, ref, is_tag) where push_id is not null',
    );
    await runner.query(`alter table pipelines drop constraint ck_pipelines_source,
      add constraint ck_pipelines_source
        check (source in ('api', 'external', 'merge_request_event', 'pipeline', 'push', 'trigger'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from pipelines where source in ('merge_request_event', 'push')`);
    await runner.query(`alter table pipelines drop constraint ck_pipelines_source,
      add constraint ck_pipelines_source check (source in ('api', 'external', 'pipeline', 'trigger'))`);
    await runner.query('alter table pipelines drop column push_id');
  }
}
