import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The queue of e-mails about projects, groups and their members, and notices that many users still have to get. Source: reference work-tracking 8.9; ADR 0082. */
export class CreatePlaceMails1767225854640 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table place_mails (
        id bigint generated always as identity constraint pk_place_mails primary key,
        source_event_id uuid not null,
        recipient_id bigint not null,
        template text not null,
        project_id bigint,
        group_id bigint,
        actor_id bigint,
        subject_id bigint,
        state text not null default 'queued'
          constraint ck_place_mails_state check (state in ('queued', 'sent', 'failed', 'dropped')),
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null default now(),
        smtp_reply text,
        message_id text,
        created_at timestamptz(3) not null default now(),
        sent_at timestamptz(3),
        claim uuid,
        allowed_at timestamptz(3),
        constraint ck_place_mails_place check (num_nonnulls(project_id, group_id) = 1)
      ) with (fillfactor = 85)`);
    await runner.query(`
      create unique index uq_place_mails_source_event_id on place_mails (source_event_id, recipient_id, template)`);
    await runner.query(`
      create index ix_place_mails_queued on place_mails (next_attempt_at, id) where state = 'queued'`);
    await runner.query(`create index ix_place_mails_recipient_id on place_mails (recipient_id)`);
    await runner.query(`create index ix_place_mails_actor_id on place_mails (actor_id)`);
    await runner.query(`
      create index ix_place_mails_unlooked on place_mails (recipient_id, next_attempt_at, id)
        where state = 'queued' and allowed_at is null`);
    await runner.query(`
      create table place_mail_fan_outs (
        id bigint generated always as identity constraint pk_place_mail_fan_outs primary key,
        source_event_id uuid not null,
        template text not null,
        project_id bigint not null,
        actor_id bigint,
        subject_id bigint,
        after_user_id bigint not null default 0
      )`);
    await runner.query('create index ix_place_mail_fan_outs_actor_id on place_mail_fan_outs (actor_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table place_mail_fan_outs, place_mails');
  }
}
