import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The queue of e-mails about finished pipelines. Source: reference work-tracking 8.4; ADR 0082. */
export class CreatePipelineMails1767225854100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pipeline_mails (
        id bigint generated always as identity constraint pk_pipeline_mails primary key,
        source_event_id uuid not null,
        recipient_id bigint not null,
        template text not null,
        project_id bigint not null,
        pipeline_id bigint not null,
        pipeline_iid bigint not null,
        ref text not null,
        is_tag boolean not null,
        sha text not null,
        state text not null default 'queued'
          constraint ck_pipeline_mails_state check (state in ('queued', 'sent', 'failed', 'dropped')),
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null default now(),
        smtp_reply text,
        message_id text,
        created_at timestamptz(3) not null default now(),
        sent_at timestamptz(3),
        claim uuid,
        allowed_at timestamptz(3)
      ) with (fillfactor = 85)`);
    await runner.query(`
      create unique index uq_pipeline_mails_source_event_id
        on pipeline_mails (source_event_id, recipient_id, template)`);
    await runner.query(`
      create index ix_pipeline_mails_queued on pipeline_mails (next_attempt_at, id) where state = 'queued'`);
    await runner.query(`create index ix_pipeline_mails_recipient_id on pipeline_mails (recipient_id)`);
    await runner.query(`
      create index ix_pipeline_mails_unlooked on pipeline_mails (recipient_id, next_attempt_at, id)
        where state = 'queued' and allowed_at is null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table pipeline_mails');
  }
}
